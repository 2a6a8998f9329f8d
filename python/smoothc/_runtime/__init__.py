"""Calls compiled entries from Python, with NumPy: the part that a package made by ``smoothc build --python`` carries with it.

``manifest`` reads what the compiler says of a library, ``source`` writes the functions that call it, ``values`` converts arguments, ``library`` puts
them together.
"""
