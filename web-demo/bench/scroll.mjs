// Scrolls the page's list with a real wheel from its first row to its last, and reads from the browser's own trace how
// long the page's main thread worked for each frame: scripts, style, layout and paint together.

/** Turns of the wheel in all, and milliseconds between two. */
const TURNS = 600;
const TURN_EVERY_MS = 16;

export async function scroll(page, cdp) {
  const box = await page.locator('#list').boundingBox();
  const x = box.x + box.width / 2;
  const y = box.y + box.height / 2;
  await page.mouse.move(x, y);
  const length = await page.evaluate(() => document.querySelector('#list').scrollHeight);
  const deltaY = Math.ceil(length / TURNS);

  await page.evaluate(() => {
    const seen = { intervals: [], scrolled: 0, last: performance.now() };
    window.benchSeen = seen;
    document.querySelector('#list').addEventListener('scroll', () => {
      performance.mark('bench-scrolled');
      seen.scrolled += 1;
    }, { passive: true });
    const tick = (now) => {
      seen.intervals.push(now - seen.last);
      seen.last = now;
      seen.handle = requestAnimationFrame(tick);
    };
    requestAnimationFrame((now) => {
      seen.last = now;
      requestAnimationFrame(tick);
    });
  });
  const events = [];
  cdp.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await cdp.send('Tracing.start', {
    traceConfig: { includedCategories: ['toplevel', 'blink.user_timing', 'devtools.timeline.frame', 'disabled-by-default-devtools.timeline', '__metadata'] },
    transferMode: 'ReportEvents',
  });
  let jumps = 0;
  for (; jumps < TURNS; jumps += 1) {
    const due = performance.now() + TURN_EVERY_MS;
    await cdp.send('Input.dispatchMouseEvent', { type: 'mouseWheel', x, y, deltaX: 0, deltaY });
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
  }
  const { intervals, last } = await page.evaluate(() => {
    cancelAnimationFrame(window.benchSeen.handle);
    const row = [...document.querySelectorAll('#list .row:not([hidden])')].map((element) => Number(element.dataset.unit));
    return { intervals: window.benchSeen.intervals, last: Math.max(...row) };
  });
  const complete = new Promise((resolve) => cdp.once('Tracing.tracingComplete', resolve));
  await cdp.send('Tracing.end');
  await complete;
  if (last !== 999_999) {
    throw new Error(`the wheel came to row ${last}, not to the last one`);
  }
  return { work: frameWork(events), intervals, jumps };
}

/** Milliseconds of the main thread's tasks from each frame's beginning to the next one's, where the list scrolled. */
function frameWork(events) {
  const marks = events.filter((event) => event.name === 'bench-scrolled');
  const main = marks[0];
  const own = events.filter((event) => event.pid === main?.pid && event.tid === main?.tid);
  const tasks = own.filter((event) => event.ph === 'X' && event.name === 'RunTask');
  const begins = own.filter((event) => event.name === 'BeginMainThreadFrame').map((event) => event.ts).sort((a, b) => a - b);
  const frameOf = (ts) => {
    let low = 0;
    let high = begins.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (begins[middle] <= ts) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low - 1;
  };
  const work = new Map(marks.map((mark) => [frameOf(mark.ts), 0]));
  for (const task of tasks) {
    // A frame begins inside the task that draws it.
    const frame = frameOf(task.ts + task.dur);
    if (work.has(frame)) {
      work.set(frame, work.get(frame) + task.dur / 1000);
    }
  }
  return [...work.values()];
}
