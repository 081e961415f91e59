"""Made-up proteins and genes: input of the programs from Debian that tests and benchmarks run."""
import random


def write_sequences(path, letters, count, length, changed, seed=1):
    """Writes so many sequences of a length, which differ from one another in a share of their letters."""
    chance = random.Random(seed)
    base = [chance.choice(letters) for _ in range(length)]
    with open(path, "w", encoding="ascii") as file:
        for number in range(count):
            sequence = (chance.choice(letters) if chance.random() < changed else letter for letter in base)
            file.write(f">s{number}\n{''.join(sequence)}\n")
