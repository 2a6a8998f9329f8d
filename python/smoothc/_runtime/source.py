"""The Python text of the function that calls an entry.

In: an entry of the manifest. Out: the text of one function. It passes arguments of the right type, order and shape as they are, in about a
microsecond; everything else goes to ``convert`` first, which makes a copy or says what is wrong. Parameters have the names that the source gives
them; all other names begin with ``$`` until they get a prefix that no parameter has.

    dot (a: Vector<n>) (b: Vector<n>)   ->   def dot(a, b, *, out=None):
                                                 try:
                                                     _pointer_0 = _pointer_at(_id(a) + 16)
                                                     _n, = a.shape
                                                     …
                                                     _status = _call(_number_0, _pointer_0, _pointer_1, _target_0, None, _no_bytes)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from . import lengths
from .arrays import PLACE, READY
from .manifest import Array, Entry, Leaf, Length, Scalar, Tree, Tuple, identifier, is_hollow, leaves

SIZED = {"double": "c_double", "float": "c_float", "int64_t": "c_int64", "bool": "c_bool"}
"""What a number is to ctypes."""


def function(entry: Entry, name: str, *, dict_records: bool, parallel: bool, method: bool) -> tuple[str, str]:
    """The text of the function or method ``name``, and the prefix of the names that it uses."""
    text = Text(entry, dict_records, parallel)
    for parameter, (_, tree) in zip(text.parameters, entry.parameters):
        _take_apart(text, tree, parameter)
    for leaf in text.inputs:
        _leaf(text, leaf)
    _shapes(text)
    lines = [f"def {name}({', '.join([*(['$self'] if method else []), *text.parameters, '*', 'out=None'])}):"]
    if text.parameters:
        lines += _arguments(text)
    lines += _call(text)
    prefix = "_"
    while any(parameter.startswith(prefix) for parameter in [*text.parameters, name]):
        prefix += "_"
    return "\n".join(lines).replace("$", prefix) + "\n", prefix


@dataclass
class Text:
    """A function while it is written."""

    entry: Entry
    dict_records: bool
    parallel: bool
    ready: list[str] = field(default_factory=list)
    """What takes arguments apart, one statement a line."""
    conditions: list[str] = field(default_factory=list)
    """When they are as C takes them."""
    converted: list[str] = field(default_factory=list)
    """What is done with arguments that were converted."""
    components: int = 0

    def __post_init__(self) -> None:
        taken = {"out"}
        self.parameters = [identifier(name, taken) for name, _ in self.entry.parameters]
        self.inputs = [leaf for name, tree in self.entry.parameters for leaf in leaves(tree, name)]
        self.results = leaves(self.entry.result, "out")
        self.values: dict[str, str] = {}
        """The variables of the leaves."""
        self.pointers: dict[str, str] = {}
        self.sizes: dict[str, str] = {}
        """The variables of what lengths mention."""


def _listed(names: list[str]) -> str:
    """A tuple, or the targets of one."""
    return ", ".join(names) + ("," if len(names) == 1 else "") or "()"


def _take_apart(text: Text, tree: Tree, value: str) -> None:
    """Names the components of a value."""
    if isinstance(tree, Scalar):
        text.values[tree.parameter] = value
    elif isinstance(tree, Array):
        if is_hollow(tree):
            # a list, or its length: nothing of it is passed
            text.conditions.append("False")
        else:
            _take_apart(text, tree.element, value)
    else:
        parts = list(tree.parts) if isinstance(tree, Tuple) else [part for _, part in tree.fields]
        names = [f"$value_{text.components + at}" for at in range(len(parts))]
        text.components += len(parts)
        if isinstance(tree, Tuple):
            text.ready.append(f"{_listed(names)} = {value}")
            text.conditions.append(f"$type({value}) is $tuple")
        else:
            fields = [name for name, _ in tree.fields]
            text.ready.append(f"if $type({value}) is $dict:")
            text.ready.append(f"    {_listed(names)} = {_listed([f'{value}[{name!r}]' for name in fields])}")
            text.ready.append("else:")
            text.ready.append(f"    {_listed(names)} = {_listed([f'{value}.{name}' for name in tree.attributes])}")
            text.conditions.append(f"($type({value}) is not $dict or $len({value}) == {len(fields)})")
        for name, part in zip(names, parts):
            _take_apart(text, part, name)


def _leaf(text: Text, leaf: Leaf) -> None:
    """Makes of a leaf what C takes."""
    scalar = leaf.scalar
    value = text.values[scalar.parameter]
    pointer = f"$pointer_{len(text.pointers)}"
    text.pointers[scalar.parameter] = pointer
    if leaf.lengths:
        # where an array has its address; what is no array is not read there
        place = f"$pointer_at($id({value}) + {PLACE})"
        text.ready.append(f"{pointer} = {f'$address({value})' if PLACE is None else place}")
        text.conditions.append(f"($type({value}) is $ndarray or $type({value}) is $memmap) and {value}.dtype is ${scalar.c_type}_dtype")
        text.conditions.append(f"{value}.flags.num & {READY} == {READY}")
        if scalar.kind == "bool":
            # C has an undefined meaning for any other byte
            text.conditions.append(f"$are_bits({value})")
        text.converted.append(f"{pointer} = $address({value})")
        return
    if scalar.cases:
        text.ready.append(f"if $type({value}) is $str:")
        text.ready.append(f"    {value} = {scalar.cases!r}.index({value})")
    # of other types ctypes takes what may be made a Double, and drops the imaginary part
    made = f"${scalar.c_type}_of[$type({value})]" if scalar.kind == "double" else f"${scalar.c_type}"
    text.ready.append(f"{pointer} = {made}({value})")
    text.converted.append(f"{pointer} = {value}")
    if scalar.c_type == "float":
        text.conditions.append(f"-$infinity < {pointer}.value < $infinity")
    elif scalar.kind == "index":
        text.conditions.append(f"$type({value}) is $int and $lowest <= {value} <= $highest")
    elif scalar.kind == "bool":
        text.conditions.append(f"$type({value}) is $bool_type")
    if scalar.kind != "double":
        text.sizes[scalar.parameter] = value
        text.converted.append(f"{value} = {pointer}.value")


def _shapes(text: Text) -> None:
    """Reads sizes off shapes, and holds shapes against each other."""
    wanted: list[tuple[str, Length]] = []
    for leaf in text.inputs:
        if not leaf.lengths:
            continue
        targets = []
        for length in leaf.lengths:
            if isinstance(length, str) and length not in text.sizes:
                target = text.sizes[length] = f"$size_{length}"
                text.converted.append(f"{target} = $sizes[{length!r}]")
            else:
                target = f"$length_{len(wanted)}"
                wanted.append((target, length))
            targets.append(target)
        text.ready.append(f"{_listed(targets)} = {text.values[leaf.scalar.parameter]}.shape")
    for size in text.entry.sizes:
        if size not in text.sizes:
            # no array has this length, only `()` in its place
            text.sizes[size] = f"$size_{size}"
            text.converted.append(f"$size_{size} = $sizes[{size!r}]")
    text.conditions += [f"{target} == {lengths.python(length, text.sizes)}" for target, length in wanted]


def _arguments(text: Text) -> list[str]:
    """From arguments to what C takes."""
    lines = ["    try:", *(f"        {line}" for line in text.ready)]
    joined = "\n            and ".join(text.conditions or ["True"])
    lines += [f"        $ready = ({joined})", "    except $expected:", "        $ready = False", "    if not $ready:"]
    lines.append(f"        $plain, $sizes = $convert({', '.join(text.parameters)})")
    if text.inputs:
        lines.append(f"        {_listed([text.values[leaf.scalar.parameter] for leaf in text.inputs])} = $plain")
    return lines + [f"        {line}" for line in text.converted]


def _call(text: Text) -> list[str]:
    """The call, and what it gives."""
    entry = text.entry
    measured = [f"$number_{at}" for at in range(len(entry.sizes))]
    passed, given = list(measured), [text.sizes[size] for size in entry.sizes]
    for leaf in text.inputs:
        if leaf.scalar.parameter in entry.sizes:
            continue
        pointer = text.pointers[leaf.scalar.parameter]
        passed.append(pointer)
        if not leaf.lengths and leaf.scalar.kind != "double":
            measured.append(pointer)
            given.append(text.sizes[leaf.scalar.parameter])
    lines = ["    $check_threads()"] if text.parallel else []
    lines += [f"    {number} = $integers[{size}]" for number, size in zip(measured, given)]
    if entry.needs_workspace:
        lines += [
            f"    $held = $getattr($local, {entry.c_name!r}, None)",
            f"    if $held is None or $held[0] != ({_listed(given)}):",
            f"        $held = $reserve($local, {entry.c_name!r}, ({_listed(given)}), $measure({', '.join(measured)}))",
        ]
    made: list[str] = []
    shapes: list[str] = []
    values: dict[str, str] = {}
    targets = [f"$target_{at}" for at in range(len(text.results))]
    for at, (leaf, target) in enumerate(zip(text.results, targets)):
        shape = [_extent(text, length) for length in leaf.lengths]
        shapes.append(f"({_listed(shape)})")
        if shape:
            values[leaf.scalar.parameter] = f"$result_{at}"
            extent = shape[0] if len(shape) == 1 else shapes[-1]
            # C does not write the data of other cases
            allocate = "$zeros" if leaf.is_of_case else "$empty"
            made += [f"$result_{at} = {allocate}({extent}, ${leaf.scalar.c_type}_dtype)", f"{target} = $view($result_{at})"]
        else:
            cases = leaf.scalar.cases
            values[leaf.scalar.parameter] = f"{cases!r}[{target}[0]]" if cases else f"{target}[0]"
            made.append(f"{target} = ${leaf.scalar.c_type}_1()")
    arrays = [text.values[leaf.scalar.parameter] for leaf in text.inputs if leaf.lengths]
    work = ["$held[1]", "$held[2]"] if entry.needs_workspace else ["None", "$no_bytes"]
    if any(leaf.lengths for leaf in text.results):
        made = ["try:", *(f"    {line}" for line in made), "except $ValueError as $problem:"]
        made.append(f"    raise $MemoryError({f'{entry.source_name}: there is no room for the result'!r}) from $problem")
    known = ", ".join(f"{name!r}: {variable}" for name, variable in text.sizes.items())
    stopped = f"$stopped($failed, [{', '.join(text.values[leaf.scalar.parameter] for leaf in text.inputs)}], {{{known}}})"
    result = _result(text, entry.result, values)
    return lines + [
        "    if out is None:",
        *(f"        {line}" for line in made or ["pass"]),
        "    else:",
        *(f"        {line}" for line in _written(text, targets, shapes, arrays)),
        "    $failed = None",
        "    try:",
        "        try:",
        f"            $status = $call({', '.join([*passed, *targets, *work])})",
        # a ctypes that does not look at what it gives
        "            if $status:",
        "                raise $KeyError($status.value)",
        "        except $KeyError as $error:",
        "            $failed = $error.args[0]",
        f"            raise {stopped} from None",
        "    except $interrupt as $problem:",
        "        $failed = $getattr($problem, 'status', $failed)",
        "        if $failed is None:",
        f"            $problem.result = {result} if out is None else out",
        "            raise",
        f"        raise $problem from {stopped}",
        "    if out is not None:",
        "        return out",
        f"    return {result}",
    ]


def _written(text: Text, targets: list[str], shapes: list[str], arrays: list[str]) -> list[str]:
    """Takes `out` as it is, where the result is one array; all else is for `destinations`.

    What is asked of `out` must take no longer than a new array does. NumPy's comparison of addresses does, and is not needed where each array
    has memory of its own: then only the same object overlaps.
    """
    checked = f"{_listed(targets)} = $destinations(out, [{', '.join(shapes)}], [{', '.join(arrays)}])"
    if len(text.results) != 1 or not text.results[0].lengths:
        return [checked]
    own = ["out.flags.owndata", *(f"{array}.base is None and {array} is not out" for array in arrays)]
    apart = ["out.flags.aligned", *(f"not $overlap(out, {array})" for array in arrays)]
    dtype = f"${text.results[0].scalar.c_type}_dtype"
    return [
        "try:",
        f"    $direct = ($type(out) is $ndarray and out.dtype is {dtype} and out.shape == {shapes[0]}",
        f"        and ({' and '.join(own)}",
        f"            or {' and '.join(apart)}))",
        "    $target_0 = $view(out)",
        "except $expected:",
        "    $direct = False",
        "if not $direct:",
        f"    {checked}",
    ]


def _extent(text: Text, length: Length) -> str:
    """A length of a result: what C refuses as negative is no length here."""
    written = lengths.python(length, text.sizes)
    is_scalar = any(not leaf.lengths and leaf.scalar.parameter == length for leaf in text.inputs)
    return f"$max({written}, 0)" if isinstance(length, list) or is_scalar else written


def _result(text: Text, tree: Tree, values: dict[str, str], around: tuple[Length, ...] = ()) -> str:
    if isinstance(tree, Scalar):
        return values[tree.parameter]
    if isinstance(tree, Array):
        around = (*around, tree.length)
        inner = _result(text, tree.element, values, around)
        # an outer one gives the lengths of all
        if not is_hollow(tree) or isinstance(tree.element, Array):
            return inner
        return f"$units({', '.join([inner, *(_extent(text, length) for length in around)])})"
    if isinstance(tree, Tuple):
        return f"({', '.join(_result(text, part, values, around) for part in tree.parts)})"
    fields = [(name, _result(text, part, values, around)) for name, part in tree.fields]
    if text.dict_records:
        return f"{{{', '.join(f'{name!r}: {value}' for name, value in fields)}}}"
    return f"$record_{tree.class_name}({', '.join(value for _, value in fields)})"
