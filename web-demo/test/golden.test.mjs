// Golden bytes dissected in a real browser by the very module that the page runs.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { ROOT, openPage, startBrowser, startServer } from './harness.mjs';

const FOLDERS = ['fixtures/golden', 'fixtures/connector'].map((folder) => join(ROOT, folder));

/** The golden files of a folder. */
const files = async (folder) =>
  existsSync(folder) ? (await readdir(folder)).filter((name) => name.endsWith('.json')).map((name) => join(folder, name)) : [];

describe('golden bytes in the browser', () => {
  let server;
  let browser;
  let page;
  let core;

  before(async () => {
    server = await startServer();
    browser = await startBrowser();
    ({ page } = await openPage(browser, server.address));
    core = new URL('/assets/core.js', server.address).href;
  });

  after(async () => {
    await browser?.close();
    await server?.stop();
  });

  test('are there', async () => {
    for (const folder of FOLDERS) {
      assert.ok((await files(folder)).length > 0, `${folder} holds no golden; run \`cargo xtask golden --write\``);
    }
  });

  test('have the fields that the files say, to the byte', async () => {
    for (const name of (await Promise.all(FOLDERS.map(files))).flat()) {
      const goldens = [JSON.parse(await readFile(name, 'utf8'))].flat();
      assert.ok(goldens.length > 0, `${name} is empty`);
      const seen = await page.evaluate(dissectAll, [core, goldens.map(({ kind, hex }) => ({ kind, hex }))]);
      goldens.forEach((golden, at) => {
        assert.deepEqual(seen[at].nodes, golden.nodes, `${name}: ${golden.name}`);
        assert.equal(seen[at].faultByte, golden.fault?.offset ?? -1, `${name}: ${golden.name}`);
        assert.equal(
          seen[at].fault, golden.fault ? `byte ${golden.fault.offset}: ${golden.fault.reason}` : '',
          `${name}: ${golden.name}`,
        );
      });
    }
  });
});

/** In the page: takes each one apart and unpacks every field. */
async function dissectAll([address, goldens]) {
  const { takeApart } = await import(address);
  return goldens.map(({ kind, hex }) => {
    const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    const detail = takeApart(kind, bytes);
    const { fields } = detail;
    const nodes = Array.from({ length: fields.length }, (_, at) => [
      fields.depth(at), fields.start(at), fields.valueStart(at), fields.end(at), fields.mask(at), fields.kind(at),
      fields.name(at), fields.value(at), fields.meaning(at),
    ]);
    return { nodes, fault: detail.fault, faultByte: detail.faultByte };
  });
}
