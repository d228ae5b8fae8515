"""English stop words, and cleaning of text for tantivy. Hot path."""

_TEXT = """
a about above after again against all also am an and any are aren as at be because been before
being below between both but by can cannot could couldn d did didn do does doesn doing don down
during each few for from further had hadn has hasn have haven having he her here hers herself
him himself his how i if in into is isn it its itself just ll m me more most mustn my myself no
nor not now o of off on once only or other our ours ourselves out over own re s same shan she
should shouldn so some such t than that the their theirs them themselves then there these they
this those through to too under until up us ve very was wasn we were weren what when where which
while who whom why will with won would wouldn y you your yours yourself yourselves let please
tell
"""
STOP = tuple(_TEXT.split())


def replace_surrogates(value: object) -> object:
    """Replace lone surrogates, which tantivy refuses, in a text or in a list of texts."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    return [replace_surrogates(each) for each in value] if isinstance(value, list) else value
