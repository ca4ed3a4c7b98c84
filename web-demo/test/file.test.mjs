// A capture in the page: every frame, both directions between field and byte, the keyboard.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { CAPTURE, drawn, drop, openPage, rowOf, startBrowser, startServer, untilText } from './harness.mjs';

describe('a capture that is dropped on the page', () => {
  let server;
  let browser;
  let opened;
  let page;

  before(async () => {
    server = await startServer();
    browser = await startBrowser();
    opened = await openPage(browser, server.address);
    page = opened.page;
    await drop(page, CAPTURE, 'peer.pcap');
    await untilText(page, '#matches', /^44 units$/);
    await drawn(page);
  });

  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  const press = async (...keys) => {
    for (const key of keys) {
      await page.keyboard.press(key);
    }
    await drawn(page);
  };
  const selectedUnit = () =>
    page.evaluate(() => Number(document.querySelector('#list .row[aria-selected="true"]')?.dataset.unit));
  const selectedField = () =>
    page.evaluate(() => document.querySelector('#fields [aria-selected="true"]:not([hidden]) .name')?.textContent);
  const markedBytes = () =>
    page.evaluate(() => [...document.querySelectorAll('#bytes .hex.in')]
      .map((cell) => [Number(cell.dataset.byte), cell.textContent])
      .sort(([a], [b]) => a - b)
      .map(([, text]) => text)
      .join(' '));
  const clickUnit = async (unit) => {
    await page.locator(`#list .row[data-unit="${unit}"]:not([hidden])`).click();
    await drawn(page);
  };
  const clickField = async (name) => {
    await page.locator('#fields .row:not([hidden])', { has: page.locator(`.name:text-is("${name}")`) }).first().click();
    await drawn(page);
  };

  test('is named with its format and size', async () => {
    await untilText(page, '#state', /^peer\.pcap · pcap · 17\.6 KiB$/);
  });

  test('shows a frame with lane, type, generation, correlation, seq, size and content', async () => {
    const row = await rowOf(page, 5);
    assert.equal(row.Lane, 'display');
    assert.equal(row.Type, 'reasoning_delta');
    assert.equal(row.Dir, '←');
    assert.deepEqual([row.Gen, row.Corr, row.Seq, row.Size], ['3', '1', '0', '128 B']);
    assert.match(row.Time, /^0\.\d{3} \d{3} s$/);
    assert.match(row.Summary, /delta: "Let me "/);
  });

  test('marks bytes for a field', async () => {
    await clickUnit(5);
    await clickField('channel');
    assert.equal(await markedBytes(), '03 00');
    await clickField('corr');
    assert.equal(await markedBytes(), '01 00 00 00 00 00 00 00');
  });

  test('finds the field of a byte', async () => {
    await clickUnit(5);
    await page.locator('#bytes .hex[data-byte="6"]').click();
    await drawn(page);
    assert.equal(await selectedField(), 'flags');
    await page.locator('#bytes .hex[data-byte="8"]').click();
    await drawn(page);
    assert.equal(await selectedField(), 'channel');
    assert.equal(await markedBytes(), '03 00');
  });

  test('is walked by the keyboard alone', async () => {
    await clickUnit(3);
    await press('ArrowDown', 'ArrowDown');
    assert.equal(await selectedUnit(), 5);
    await press('End');
    assert.equal(await selectedUnit(), 43);
    await press('Home');
    assert.equal(await selectedUnit(), 0);
    await press('PageDown');
    assert.ok((await selectedUnit()) > 5);
    await clickUnit(5);
    await page.locator('#fields').focus();
    await press('Home', 'ArrowDown');
    assert.equal(await selectedField(), 'len');
    await press('ArrowLeft');
    assert.equal(await selectedField(), 'header');
    const rows = () => page.locator('#fields .row:not([hidden])').count();
    const unfolded = await rows();
    await press('ArrowLeft');
    assert.ok((await rows()) < unfolded, 'a folded header hides its fields');
    await press('ArrowRight');
    assert.equal(await rows(), unfolded);
    await page.locator('#bytes').focus();
    await press('Home', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight');
    assert.equal(await selectedField(), 'version');
  });

  test('is reached pane by pane with the tabulator, the focus in sight', async () => {
    await page.locator('#list').focus();
    const seen = [];
    for (let step = 0; step < 4; step += 1) {
      await press('Tab');
      seen.push(await page.evaluate(() => document.activeElement?.id));
      const outline = await page.evaluate(() => {
        const style = getComputedStyle(document.activeElement);
        return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1;
      });
      assert.ok(outline, `no outline on ${seen.at(-1)}`);
    }
    assert.deepEqual(seen, ['split-list', 'fields', 'split-detail', 'bytes']);
  });

  test('is filtered, and the rows are those that match', async () => {
    await page.keyboard.press('Escape');
    await press('/');
    await page.keyboard.type('lane=control');
    await untilText(page, '#matches', /^\d+ of 44$/);
    await drawn(page);
    const lanes = await page.evaluate(() =>
      [...document.querySelectorAll('#list .track .row:not([hidden]) .sort')].map((cell) => cell.textContent));
    assert.ok(lanes.length > 3);
    assert.ok(lanes.every((lane) => lane === 'control'));
    await page.waitForFunction(() => location.hash.includes('filter=lane%3Dcontrol'));
  });

  test('says where a filter cannot be read, and keeps the list', async () => {
    const filter = page.locator('#filter');
    await filter.fill('lane=control and colour=red');
    await filter.press('Enter');
    await untilText(page, '#filter-fault', /no such name/);
    const column = await page.evaluate(() =>
      document.querySelector('#filter-fault').textContent.split('\n')[0].indexOf('▲'));
    assert.equal(column, 'lane=control and '.length);
    await page.locator('#filter-clear').click();
    await untilText(page, '#matches', /^44 units$/);
  });

  test('says what to do when nothing matches', async () => {
    await page.locator('#filter').fill('seq>100000');
    await untilText(page, '#empty', /No unit matches/);
    await page.locator('#empty button').click();
    await untilText(page, '#matches', /^44 units$/);
    assert.equal(await page.locator('#empty *').count(), 0);
  });

  test('leads to its gaps', async () => {
    await clickUnit(3);
    await page.locator('#list').focus();
    await press('n');
    const row = await rowOf(page, await selectedUnit());
    assert.equal(row.Type, '▼ display_gap');
    assert.match(row.Summary, /dropped/);
  });

  test('has its handshake verified by a key that stays in the tab', async () => {
    const key = Array.from({ length: 32 }, (_, byte) => byte.toString(16).padStart(2, '0')).join('');
    const before = opened.asked.length;
    await page.locator('#list').focus();
    await press('k');
    await page.locator('#key-text').fill('00');
    await page.locator('#key-use').click();
    assert.notEqual(await page.locator('#key-fault').textContent(), '');
    await page.locator('#key-text').fill(key);
    await page.locator('#key-use').click();
    await untilText(page, '#state', /2 proofs verified/);
    await page.waitForFunction(() => location.hash !== '');
    assert.ok(!page.url().includes(key.slice(0, 16)));
    assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length), 0);
    assert.equal(await page.locator('#key-text').inputValue(), '');
    // The browser asks for the icon when it likes.
    assert.deepEqual(opened.asked.slice(before).filter((url) => !url.endsWith('/icon.svg')), []);
  });

  test('is shown light or dark, with text at the contrast of WCAG AA in both', async () => {
    for (const [theme, wanted] of [['light', 'light'], ['dark', 'dark']]) {
      await page.evaluate(() => document.getElementById('list').focus());
      while ((await page.evaluate(() => document.documentElement.dataset.theme)) !== theme) {
        await press('t');
      }
      const { scheme, poor } = await page.evaluate(contrasts);
      assert.equal(scheme, wanted);
      assert.deepEqual(poor, []);
    }
  });

  test('resizes its panes by keyboard', async () => {
    const height = () => page.evaluate(() => document.getElementById('list').clientHeight);
    const tall = await height();
    await page.locator('#split-list').focus();
    await press('ArrowUp', 'ArrowUp', 'ArrowUp');
    assert.ok((await height()) < tall);
    await press('Enter');
    assert.equal(await height(), tall);
  });

  test('comes back to the same unit with the same address', async () => {
    await page.locator('#list').focus();
    await press('Home');
    await clickUnit(7);
    await page.waitForFunction(() => location.hash.includes('i=7'));
    const address = page.url();
    await page.goto('about:blank');
    await page.goto(address);
    await page.waitForFunction(() => document.activeElement?.id === 'list');
    await drop(page, CAPTURE, 'peer.pcap');
    await untilText(page, '#matches', /^44 units$/);
    await page.waitForFunction(() => document.querySelector('#list .row[aria-selected="true"]')?.dataset.unit === '7');
  });

  test('asks nothing of anybody else and complains of nothing', () => {
    const origin = new URL(server.address).host;
    const strangers = opened.asked.filter((url) => !['blob:', 'data:', 'about:'].includes(new URL(url).protocol))
      .filter((url) => new URL(url).host !== origin);
    assert.deepEqual(strangers, []);
    assert.deepEqual(opened.complaints, []);
  });
});

describe('a stream of a million frames', () => {
  const FRAMES = 1_000_000;
  let server;
  let browser;
  let page;

  before(async () => {
    server = await startServer();
    browser = await startBrowser();
    ({ page } = await openPage(browser, server.address));
  });

  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  /** Drops so many pings as one raw stream, 17 bytes each. */
  const dropPings = (amount) => page.evaluate((frames) => {
    const ping = [0, 0, 0, 0, 1, 7, 2, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    const bytes = new Uint8Array(ping.length * frames);
    for (let at = 0; at < bytes.length; at += ping.length) {
      bytes.set(ping, at);
    }
    const transfer = new DataTransfer();
    transfer.items.add(new File([bytes], 'pings.raw'));
    document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer }));
  }, amount);

  test('can be stopped, and what was read stays', async () => {
    await dropPings(FRAMES);
    await page.waitForFunction(() => document.querySelectorAll('#list .track .row').length > 5);
    await page.keyboard.press('Escape');
    await untilText(page, '#state', /stopped after .* of 16\.2 MiB; [\d,]+ units before that can be read/);
    const units = await page.evaluate(() => Number(document.getElementById('matches').textContent.replace(/\D/g, '')));
    assert.ok(units > 0 && units < FRAMES, `${units} units`);
  });

  test('is drawn while it is read, and its rows are few elements', async () => {
    await page.evaluate(() => {
      window.frames_drawn = 0;
      const count = () => {
        window.frames_drawn += 1;
        requestAnimationFrame(count);
      };
      requestAnimationFrame(count);
    });
    await dropPings(FRAMES);
    await untilText(page, '#matches', /^1,000,000 units$/);
    assert.ok((await page.evaluate(() => window.frames_drawn)) > 5, 'the page drew nothing while it read');
    assert.ok((await page.locator('#list .track .row').count()) < 150);
  });

  test('is reached at both ends and in the middle', async () => {
    const selected = () =>
      page.evaluate(() => document.querySelector('#list .row[aria-selected="true"]:not([hidden]) > *')?.textContent);
    await page.locator('#list').focus();
    for (const [key, wanted] of [['End', '999,999'], ['ArrowUp', '999,998'], ['Home', '0']]) {
      await page.keyboard.press(key);
      await page.waitForFunction((text) =>
        document.querySelector('#list .row[aria-selected="true"]:not([hidden]) > *')?.textContent === text, wanted);
      assert.equal(await selected(), wanted);
    }
    const middle = async () => {
      await page.evaluate(() => {
        const list = document.getElementById('list');
        list.scrollTop = list.scrollHeight / 2;
      });
      await drawn(page);
      await drawn(page);
      return page.evaluate(() => [...document.querySelectorAll('#list .track .row:not([hidden])')]
        .map((row) => Number(row.dataset.unit)));
    };
    const units = await middle();
    assert.ok(units.some((unit) => Math.abs(unit - FRAMES / 2) < 1000), `${units}`);
    assert.equal(new Set(units).size, units.length, 'no unit is drawn twice');
  });
});

describe('what is damaged', () => {
  let server;
  let browser;
  let page;

  before(async () => {
    server = await startServer();
    browser = await startBrowser();
    ({ page } = await openPage(browser, server.address));
  });

  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  const paste = async (text) => {
    await page.locator('#paste').click();
    await page.locator('#paste-text').fill(text);
    await page.locator('#paste-dialog button[value="read"]').click();
    // What is on the screen from then on is of this text and not of the one before.
    await drawn(page);
  };
  const PING = '00 00 00 00 01 07 02 03 00 01 00 00 00 00 00 00 00';

  test('says byte, reason and what was still read', async () => {
    await paste(`${PING}\n00 00 00 00 01 63 02 03 00 01 00 00 00 00 00 00 00`);
    await untilText(page, '#troubles', /[1-9]\d* faults?$/);
    await page.locator('#list').focus();
    await page.keyboard.press('n');
    await untilText(page, '#fault', /byte 5: /);
    await untilText(page, '#fault', /Still read: \d+ fields?/);
    assert.equal(await page.locator('#bytes .hex.wrong').getAttribute('data-byte'), '5');
  });

  test('is searched for the next frame only when asked', async () => {
    const frame = '55 00 00 00 01 03 02 03 00 01 00 00 00 00 00 00 00 ' + Buffer.from(
      '{"version":1,"run_id":"run-7f","step_id":1,"seq":1,"payload":{"type":"step_started"}}').toString('hex');
    await paste(`${PING} ff ff ff ff ff ff ff ff ${frame} ${frame} ${frame} ${frame}`);
    await untilText(page, '#troubles', /[1-9]\d* faults?$/);
    await page.locator('#list').focus();
    await page.keyboard.press('n');
    await page.locator('#fault button').click();
    await page.waitForFunction(() => document.querySelector('#list')?.textContent?.includes('control?'));
  });

  test('says what to do with a file that holds nothing', async () => {
    await paste('aGVsbG8=');
    await page.waitForFunction(() =>
      document.querySelector('#empty')?.textContent?.includes('holds no unit') ||
      /[1-9]\d* fault/.test(document.querySelector('#troubles')?.textContent ?? ''));
  });
});

/** In the page: which theme holds, and every visible text whose contrast is under 4.5 to 1. */
function contrasts() {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) {
        return colour;
      }
    }
    return [255, 255, 255, 255];
  };
  const poor = new Set();
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '');
    if (!own || element.getClientRects().length === 0 || element.matches(':disabled')) {
      continue;
    }
    const [light, dark] = [luminance(rgb(getComputedStyle(element).color)), luminance(paper(element))]
      .sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) {
      poor.add(`${element.className || element.id || element.tagName}: ${ratio.toFixed(2)}`);
    }
  }
  const scheme = luminance(paper(document.body)) > 0.5 ? 'light' : 'dark';
  return { scheme, poor: [...poor] };
}
