"""The page about a server, in a real browser (skipped where there is no Chromium)."""

import asyncio
import base64
import contextlib
import json
import os
import shutil
import subprocess
import urllib.request

import aiohttp
import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Page:
    """A page of a browser, driven over its debugging protocol."""

    def __init__(self, socket):
        self._socket = socket
        self._count = 0
        self.messages = []

    async def call(self, method, **parameters):
        self._count += 1
        await self._socket.send_json({"id": self._count, "method": method, "params": parameters})
        while True:
            answer = await self._socket.receive_json(timeout=60)
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.messages.append(answer["params"])

    async def value(self, script):
        found = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    async def until(self, script):
        for _ in range(300):
            if found := await self.value(script):
                return found
            await asyncio.sleep(0.1)
        raise AssertionError(f"never: {script}")


@contextlib.asynccontextmanager
async def browser(folder, url):
    process = subprocess.Popen(
        [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,1000",
         "--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        port_file = folder / "DevToolsActivePort"
        for _ in range(600):
            if port_file.exists() and port_file.read_text().count("\n"):
                break
            await asyncio.sleep(0.1)
        port = port_file.read_text().split()[0]
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                targets = await answer.json()
            address = next(t["webSocketDebuggerUrl"] for t in targets if t["type"] == "page")
            async with session.ws_connect(address, max_msg_size=1 << 26) as socket:
                page = Page(socket)
                for domain in ("Page", "Runtime", "Log"):
                    await page.call(domain + ".enable")
                await page.call("Page.navigate", url=url)
                yield page
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
def test_the_page_shows_models_and_sends_requests(client, tmp_path):
    async def look():
        async with browser(tmp_path / "profile", client.url + "/") as page:
            await page.until("document.getElementById('name')?.textContent === 'default'")
            assert await page.value("document.getElementById('versions').innerText.trim()") == "123\tAVAILABLE"
            assert "float32 [?, 1]" in await page.value("document.getElementById('signatures').innerText")
            assert json.loads(await page.value("document.getElementById('body').value")) == {"instances": [[1.5]]}
            assert "/v1/models/default:predict" in await page.value("document.getElementById('curl').textContent")
            assert "stub.Predict(request" in await page.value("document.getElementById('python').textContent")
            await page.value("document.querySelector('#request button').click()")
            answer = await page.until("document.getElementById('answer').textContent")
            assert json.loads(answer) == {"predictions": [[2.75]]}
            await page.value("document.getElementById('body').value = '{'; document.querySelector('#request button').click()")
            await page.until("document.getElementById('answer').className === 'failed'")
            assert "JSON Parse error" in await page.value("document.getElementById('answer').textContent")
            await page.until("document.getElementById('counts').innerText.includes('INVALID_ARGUMENT')")
            await page.value("document.getElementById('signature').value = 'regress'; document.getElementById('signature').onchange()")
            assert ":regress" in await page.value("document.getElementById('curl').textContent")
            if picture := os.environ.get("EVERFLOW_PICTURE"):
                await page.value("document.getElementById('signature').value = 'named'; document.getElementById('signature').onchange()")
                await page.value("document.querySelector('#request button').click()")
                await asyncio.sleep(8)
                shot = await page.call("Page.captureScreenshot", format="png")
                with open(picture, "wb") as file:
                    file.write(base64.b64decode(shot["data"]))
            # The one complaint is the browser's about the request that was answered 400.
            assert [m for m in page.messages if "400" not in json.dumps(m)] == []

    asyncio.run(look())


def test_the_page_is_no_part_of_serving(serve, line):
    client = serve(model_base_path=str(line), console=False)
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(client.url + "/")
    assert caught.value.code == 404


def test_what_the_page_knows(client):
    with urllib.request.urlopen(client.url + "/console/state.json") as answer:
        told = json.loads(answer.read())
    (model,) = told["models"]
    assert model["versions"][0]["signatures"]["serving_default"]["inputs"] == {
        "x": {"type": "float32", "shape": [-1, 1], "tensor": "x:0"}
    }  # fmt: skip
    assert told["grpc_port"] == client.server.port
