"""Chromium, signed in to Superset: what its pages ask of the server, and what comes back."""

from __future__ import annotations

import io
import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By
from superset_server import NAME, PASSWORD

_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    "--window-size=1400,1270", "--hide-scrollbars",
)  # fmt: skip
_SECONDS = 60
_COLOURS = 128


@dataclass(frozen=True)
class Answer:
    """Of one request for data: the kind of what asked, rows and text of each query, or the error's message."""

    viz: str
    message: str
    rows: list[list[dict[str, Any]]]
    queries: list[str]


class Browser:
    def __init__(self, address: str) -> None:
        self._address = address

    def __enter__(self) -> Browser:
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for flag in _FLAGS:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        self._driver = webdriver.Chrome(options=options, service=service)
        try:
            self._sign_in()
        except BaseException:
            self._driver.quit()
            raise
        return self

    def _sign_in(self) -> None:
        self._driver.implicitly_wait(_SECONDS)
        self._driver.get(f"{self._address}/login/")
        password = self._driver.find_element(By.CSS_SELECTOR, "input[type=password]")
        self._driver.find_element(By.ID, "username").send_keys(NAME)
        password.send_keys(PASSWORD + "\n")
        end = time.monotonic() + _SECONDS
        while "/login" in self._driver.current_url and time.monotonic() < end:
            time.sleep(0.5)

    def __exit__(self, *_: object) -> None:
        self._driver.quit()

    def text(self) -> str:
        return self._driver.find_element(By.TAG_NAME, "body").text

    def answers(self, path: str, quiet: float = 3.0) -> list[Answer]:
        """Of all requests for data that a page makes, until it has made none for some seconds."""
        self._driver.get_log("performance")
        self._driver.get(self._address + path)
        return [_answer(form, body) for form, body in self._heard("/api/v1/chart/data", quiet)]

    def sql_lab(self, sql: str) -> list[dict[str, Any]]:
        """Typed into SQL Lab's address, and run by its button."""
        self._driver.get_log("performance")
        quoted = sql.replace(" ", "%20")
        self._driver.get(f"{self._address}/sqllab/?dbid=1&sql={quoted}")
        button = self._driver.find_element(By.XPATH, "//button[contains(., 'Run')]")
        time.sleep(3)  # the editor takes the text over
        button.click()
        heard = self._heard("/api/v1/sqllab/execute", 2.0)
        return json.loads(heard[-1][1])["data"]

    def _heard(self, path: str, quiet: float) -> list[tuple[dict[str, Any], str]]:
        """What was posted to a path, and the bodies that came back."""
        asked: dict[str, dict[str, Any]] = {}
        ended: dict[str, str] = {}
        end = time.monotonic() + _SECONDS
        last = 0.0
        while time.monotonic() < end and not (
            ended and len(ended) == len(asked) and time.monotonic() > last + quiet
        ):
            time.sleep(0.3)
            for entry in self._driver.get_log("performance"):
                said = json.loads(entry["message"])["message"]
                about = said["params"].get("requestId", "")
                request = said["params"].get("request", {})
                if said["method"] == "Network.requestWillBeSent" and path in request["url"]:
                    asked[about] = json.loads(request.get("postData") or "{}")
                    last = time.monotonic()
                if said["method"] == "Network.loadingFinished" and about in asked:
                    got = self._driver.execute_cdp_cmd(
                        "Network.getResponseBody", {"requestId": about}
                    )
                    ended[about] = got["body"]
                    last = time.monotonic()
        return [(asked[about], body) for about, body in ended.items()]

    def picture(self, path: Path) -> None:
        """With few colours: small."""
        image = Image.open(io.BytesIO(self._driver.get_screenshot_as_png())).convert("RGB")
        image.quantize(_COLOURS).save(path, optimize=True)


def _answer(form: dict[str, Any], body: str) -> Answer:
    viz = str(form.get("form_data", {}).get("viz_type", ""))
    found = json.loads(body)
    if "result" not in found:
        return Answer(viz, str(found.get("message") or found), [], [])
    results = found["result"]
    message = " ".join(str(one["error"]) for one in results if one.get("error"))
    return Answer(viz, message, [one["data"] for one in results], [one["query"] for one in results])
