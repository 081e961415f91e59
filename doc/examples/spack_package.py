# A recipe for Spack: save it as packages/hpcrun-lite/package.py of a repository, and set the place of the release.
from spack.package import *


class HpcrunLite(MesonPackage):
    """Sampling profiler of calling contexts for OpenMP programs, without recompilation or privileges."""

    url = "file:///path/to/hpcrun-lite-0.1.0.tar.xz"  # of `meson dist`
    license("BSD-3-Clause")

    version("0.1.0", sha256="put the sum of the release here: meson dist prints it")

    variant("libomp", default=True, description="LLVM's OpenMP runtime for programs whose own cannot be measured")
    variant("mpi", default=False, description="reports of large measurements by several ranks")
    variant("otf2", default=False, description="export of the timeline as OTF2")
    variant("sqlite", default=True, description="export of a run as SQLite database")

    depends_on("c", type="build")
    depends_on("cxx", type="build")  # whose library makes names of C++ readable
    depends_on("meson@1.0:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type="build")
    depends_on("elfutils")
    depends_on("inih")
    depends_on("libdeflate libs=static")
    depends_on("libdwarf")
    depends_on("libiberty+pic")
    depends_on("libpfm4")
    depends_on("libunwind")
    depends_on("llvm-openmp@15:", when="+libomp")
    depends_on("mpi", when="+mpi")
    depends_on("otf2", when="+otf2")
    depends_on("sqlite", when="+sqlite")
    depends_on("xz")
    depends_on("zlib-api")
    depends_on("zstd libs=static,shared")

    def meson_args(self):
        enabled = lambda name: "enabled" if self.spec.satisfies(f"+{name}") else "disabled"
        runtime = ""
        if self.spec.satisfies("+libomp"):
            runtime = join_path(self.spec["llvm-openmp"].libs.directories[0], "libomp.so")
        options = [f"-D{name}={enabled(name)}" for name in ("mpi", "otf2", "sqlite")]
        return ["-Dtests=disabled", f"-Domp_runtime={runtime}"] + options
