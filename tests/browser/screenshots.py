"""Pictures of every page, light and dark, wide and narrow: `python -m tests.browser.screenshots FOLDER [PAGE ...]`.

`python -m tests.browser.screenshots readme` makes those of the README.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser

from tests.browser.elements import Element
from tests.browser.server import REPOSITORY, chromium, dashboard, settle

PAGES = {
    "start": "/",
    "data": "/data",
    "data-pos": "/data?dataset=toy-pos",
    "data-download": "/data?dataset=cb513",
    "train": "/train",
    "train-finished": "/train?dataset=toy-pos",
    "train-kernels": "/train?dataset=pitch-accent&features=prosody&"
    "variant=hmsvm&variant=gps:kernel=poly:3:decode=posterior&variant=sgps:features=S3:sequences=100:noise=0.1",
    "train-variants": "/train?dataset=toy-pos&tune=true&" + "&".join(f"variant=crf:l2={l2}" for l2 in range(2, 14)),
    "compare": "/compare",
    "compare-measures": "/compare?view=Measures",
    "compare-sparsity": "/compare?view=Sparsity&run=default:l1-path",
    "compare-significance": "/compare?view=Significance&run=default:parity",
    "compare-labels": "/compare?view=Labels",
    "compare-pos": "/compare?run=default:toy-pos&view=Labels",
    "compare-sentences": "/compare?view=Sentences",
    "compare-learning": "/compare?view=Learning+curve",
    "compare-learning-none": "/compare?view=Learning+curve&run=default:toy-pos",
    "abstain": "/abstain",
    "abstain-gaps": "/abstain?gaps=true&threshold=0.85",
    "abstain-reliability": "/abstain?below=Reliability",
    "inside": "/inside",
    "inside-l1": "/inside?weights=L1+path",
    "inside-boosting": "/inside?tab=Boosting",
    "inside-boosting-bounds": "/inside?tab=Boosting&boosting=Bounds",
    "inside-boosting-losses": "/inside?tab=Boosting&boosting=Losses",
    "inside-boosting-again": "/inside?tab=Boosting&boosting=Chosen+again",
    "inside-support": "/inside?tab=HM-SVM",
    "inside-margins": "/inside?tab=Margins",
    "inside-gpsc": "/inside?tab=GPSC",
    "inside-gpsc-fit": "/inside?tab=GPSC&gpsc=Fit",
    "inside-gpsc-decides": "/inside?tab=GPSC&gpsc=Who+decides",
    "inside-gpsc-gram": "/inside?tab=GPSC&gpsc=Gram+matrix",
    "inside-gpsc-dense": "/inside?tab=GPSC&run=default:parity",
    "sequence": "/sequence",
    "sequence-short": "/sequence?run=default:toy-pos&words=the+old+man+ran",
    "sequence-steps": "/sequence?show=Step+by+step",
    "sequence-why": "/sequence?show=Why+this+label",
    "sequence-force": "/sequence?show=What+if",
    "sequence-kernel": "/sequence?run=default:abstention&show=Why+this+label",
    "sequence-typed": "/sequence?run=default:toy-pos&words=my+mother+saw+a+%3Cb%3Ebook%3C/b%3E&"
    "show=Step+by+step&recursion=Backward&step=3",
    "learn": "/learn",
    "learn-losses": "/learn?lesson=losses",
    "learn-margin": "/learn?lesson=margin",
    "learn-boosting": "/learn?lesson=boosting",
    "learn-kernel": "/learn?lesson=kernel",
    "learn-sparse": "/learn?lesson=sparse",
    "learn-abstain": "/learn?lesson=abstain",
    "learn-properties": "/learn?lesson=properties",
    "history": "/history",
    "history-one": "/history?runs=default:spanish-ner",
    "history-two": "/history?runs=default:spanish-ner,default:boosting",
    "inside-pos": "/inside?run=default:toy-pos&label=NOUN",
}
README = {
    "start": "/",
    "compare": "/compare?run=default:spanish-ner&view=Labels",
    "inside": "/inside?tab=Boosting",
    "sequence": "/sequence?run=default:spanish-ner",
}
COLOURS = 128  # of a picture of the README: enough for pages, and a third of the bytes
WIDTHS = {"wide": 1440, "narrow": 420}
HEIGHT = 900
MILLISECONDS_TO_TRAIN = 180_000  # routines may have to be compiled first


def main(folder: Path, names: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with dashboard() as address, chromium() as browser:
        for name in names or PAGES:
            for scheme in ("light", "dark"):
                for size, width in WIDTHS.items():
                    _picture(browser, address + PAGES[name], scheme, width, folder / f"{name}-{scheme}-{size}.png")


def readme(folder: Path) -> None:
    """What a visitor sees without scrolling."""
    with dashboard() as address, chromium() as browser:
        for name, path in README.items():
            page = browser.new_page(viewport={"width": WIDTHS["wide"], "height": HEIGHT})
            page.goto(address + path)
            settle(page)
            target = folder / f"{name}.png"
            page.screenshot(path=target)
            Image.open(target).convert("RGB").quantize(COLOURS).save(target, optimize=True)
            page.close()


def _picture(browser: Browser, address: str, scheme: str, width: int, target: Path) -> None:
    page = browser.new_page(viewport={"width": width, "height": HEIGHT}, color_scheme=scheme)
    page.goto(address)
    settle(page)
    if target.name.startswith("train-finished"):
        page.get_by_role("button", name="Start training").click()
        page.get_by_text("Finished.").wait_for(timeout=MILLISECONDS_TO_TRAIN)
    if target.name.startswith("train-kernels"):
        page.get_by_role("button", name="Options of variant 2").click()
        page.locator("summary").filter(has_text="More options", visible=True).click()
    settle(page)
    # Streamlit scrolls inside the page: a window as high as its contents shows all of it.
    height = page.get_by_test_id(Element.MAIN).evaluate("main => main.scrollHeight")
    page.set_viewport_size({"width": width, "height": max(HEIGHT, height)})
    settle(page)
    page.screenshot(path=target)
    page.close()
    print(target.name)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("give the folder for the pictures")
    if sys.argv[1:] == ["readme"]:
        readme(REPOSITORY / ".readme")
    else:
        main(Path(sys.argv[1]), sys.argv[2:])
