/* The tables of the report: what hpcprof-lite writes as CSV, column by column.  html_table.h describes their form. */

class Column {
  constructor(header, rows, cells, strings) {
    this.name = header.name;
    this.help = header.help ? `${header.name}: ${header.help}` : header.name;
    this.isText = header.strings !== undefined;
    this.header = header;
    this.rows = rows;
    this.cells = cells;
    this.stringBytes = strings;
  }

  /* The cell of a row before it is decoded: its bytes stand apart. */
  #raw(row) {
    let value = 0, factor = 1;
    for (let byte = 0; byte < this.header.bytes; byte++, factor *= 256)
      value += this.cells[byte * this.rows + row] * factor;
    return value;
  }

  /* All cells before they are decoded.  Loops over one byte of all rows are what engines make fast. */
  #rawCells(cells) {
    const { rows } = this;
    for (let byte = 0, factor = 1; byte < this.header.bytes; byte++, factor *= 256) {
      const plane = this.cells.subarray(byte * rows, (byte + 1) * rows);
      for (let row = 0; row < rows; row++)
        cells[row] += plane[row] * factor;
    }
    return cells;
  }

  /* Of text: for each row the number of its string + 1; 0 where it is empty. */
  get codes() {
    this.decodedCodes ??= this.isText ? this.#rawCells(new Uint32Array(this.rows)) : new Uint32Array(this.rows);
    return this.decodedCodes;
  }

  /* All numbers of the column; NaN where a cell is empty or no number.  They are decoded when they are first needed. */
  get numbers() {
    if (this.decoded)
      return this.decoded;
    const { bytes, minimum, decimals, empty } = this.header;
    const decoded = this.#rawCells(new Float64Array(this.rows)), unit = 10 ** (decimals || 0);
    const none = empty ? 256 ** bytes - 1 : -1;
    for (let row = 0; row < this.rows; row++) {
      const raw = decoded[row];
      if (this.isText)
        decoded[row] = raw ? Number(this.strings[raw - 1]) : NaN;
      else
        decoded[row] = raw === none ? NaN : (minimum + raw) / unit;
    }
    this.decoded = decoded;
    return decoded;
  }

  /* The number in one row, without decoding the others. */
  number(row) {
    if (this.decoded)
      return this.decoded[row];
    const { bytes, minimum, decimals, empty } = this.header, raw = this.#raw(row);
    if (this.isText)
      return raw ? Number(this.strings[raw - 1]) : NaN;
    return empty && raw === 256 ** bytes - 1 ? NaN : (minimum + raw) / 10 ** (decimals || 0);
  }

  /* The whole numbers of a column without empty cells, in an array that is not kept: for columns of many rows. */
  integers() {
    const { bytes, minimum } = this.header, rows = this.rows;
    const made = minimum >= 0 && minimum + 256 ** bytes <= 2 ** 32 ? new Uint32Array(rows) : new Float64Array(rows);
    made.fill(minimum);
    for (let byte = 0, factor = 1; byte < bytes; byte++, factor *= 256) {
      const cells = this.cells.subarray(byte * rows, (byte + 1) * rows);
      for (let row = 0; row < rows; row++)
        made[row] += cells[row] * factor;
    }
    return made;
  }

  get strings() {
    this.decodedStrings ??= new TextDecoder().decode(this.stringBytes).split("\n");
    return this.decodedStrings;
  }

  /* The cell as text, as in the CSV. */
  text(row) {
    if (this.isText) {
      const raw = this.#raw(row);
      return raw ? this.strings[raw - 1] : "";
    }
    const number = this.number(row);
    return Number.isNaN(number) ? "" : number.toFixed(this.header.decimals);
  }
}

/* The parents of rows that stand depth-first, which the page does not hold. */
class ParentColumn extends Column {
  constructor(header, table) {
    super(header, table.rows, new Uint8Array(0));
    this.table = table;
  }

  get numbers() {
    this.decoded ??= this.#decode();
    return this.decoded;
  }

  #decode() {
    const ids = this.table.column("id").numbers, depths = this.table.column("depth").numbers, path = [NaN];
    const parents = new Float64Array(this.rows);
    for (let row = 0; row < this.rows; row++) {
      parents[row] = path[depths[row]];
      path[depths[row] + 1] = ids[row];
    }
    return parents;
  }

  number(row) {
    return this.numbers[row];
  }
}

export class Table {
  constructor(bytes) {
    const headerSize = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headerSize)));
    let at = 4 + headerSize;
    this.rows = header.rows;
    this.columns = header.columns.map((column) => {
      if (column.parents)
        return new ParentColumn(column, this);
      const cells = bytes.subarray(at, at += column.bytes * header.rows);
      const strings = bytes.subarray(at, at += column.strings ?? 0);
      return new Column(column, header.rows, cells, strings);
    });
    this.byName = new Map(this.columns.map((column) => [column.name, column]));
  }

  /* The same table with other columns in front of its own. */
  withColumns(columns) {
    const table = Object.create(Table.prototype);
    table.rows = this.rows;
    table.columns = [...columns, ...this.columns];
    table.byName = new Map(table.columns.map((column) => [column.name, column]));
    return table;
  }

  has(name) {
    return this.byName.has(name);
  }

  column(name) {
    return this.byName.get(name);
  }

  number(name, row) {
    const column = this.byName.get(name);
    return column ? column.number(row) : NaN;
  }

  text(name, row) {
    const column = this.byName.get(name);
    return column ? column.text(row) : "";
  }

  /* The first row in which a column has that text, or -1. */
  find(name, text) {
    const column = this.byName.get(name);
    for (let row = 0; column && row < this.rows; row++)
      if (column.text(row) === text)
        return row;
    return -1;
  }
}

function fromBase64(text) {
  if (Uint8Array.fromBase64)
    return Uint8Array.fromBase64(text);
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++)
    bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/* The bytes of a table's element, which is removed then; null if the page has none, or only its begin, which "!" tells. */
async function unpackElement(name) {
  const holder = document.getElementById("table-" + name);
  if (!holder || !holder.textContent || holder.textContent.endsWith("!"))
    return null;
  const packed = new Blob([fromBase64(holder.textContent)]);
  holder.remove();
  const stream = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const loadedTables = new Map();

/* Returns a promise of the table with that name; of null if the page has none. */
export function loadTable(name) {
  if (!loadedTables.has(name))
    loadedTables.set(name, unpackElement(name).then((bytes) => bytes && new Table(bytes)));
  return loadedTables.get(name);
}

/* The same of a JSON document. */
export function loadDocument(name) {
  if (!loadedTables.has(name))
    loadedTables.set(name, unpackElement(name).then((bytes) => bytes && JSON.parse(new TextDecoder().decode(bytes))));
  return loadedTables.get(name);
}

/* Whether the page has a table with that name. */
export function hasTable(name) {
  const text = document.getElementById("table-" + name)?.lastChild; /* a parser may make several of a long one */
  return loadedTables.has(name) || Boolean(text) && !text.data.endsWith("!");
}
