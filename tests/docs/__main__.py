"""`make docs`: writes the generated parts of the pages anew."""

from tests.docs.generated import PARTS, ROOT, renewed

for page in dict.fromkeys(part.page for part in PARTS):
    path = ROOT / page
    path.write_text(renewed(page, path.read_text()))
