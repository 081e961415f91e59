/* The messages of an MPI job, as lines between lanes.  message_table.h describes the table. */
import { loadTable } from "../table_data.js";

const MOST = 200, REACH = 4; /* lines that are drawn at once; pixels from the pointer */

function distance(x, y, { x1, y1, x2, y2 }) {
  const length = (x2 - x1) ** 2 + (y2 - y1) ** 2;
  const part = length ? Math.max(0, Math.min(1, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length)) : 0;
  return Math.hypot(x - x1 - part * (x2 - x1), y - y1 - part * (y2 - y1));
}

export class Messages {
  constructor(table, lanes, leftOut) {
    const [from, to, sent, received, bytes, waited] =
      ["from", "to", "sent_ns", "received_ns", "bytes", "waited_ns"].map((name) => table.column(name).integers());
    Object.assign(this, { from, to, sent, received, bytes, waited, lanes, leftOut, count: table.rows });
  }

  message(number) {
    const { lanes, from, to, sent, received, bytes, waited } = this;
    return {
      number,
      from: lanes[from[number]],
      to: lanes[to[number]],
      sent: sent[number],
      received: received[number],
      bytes: bytes[number],
      waited: waited[number]
    };
  }

  /* The lines of those in sight, longest waits first, and how many more there are; placeOf(lane, time): x and y. */
  lines(view, placeOf) {
    const lines = [];
    let more = 0;
    for (let i = 0; i < this.count; i++) {
      if (Math.min(this.sent[i], this.received[i]) > view.to || Math.max(this.sent[i], this.received[i]) < view.from)
        continue;
      if (lines.length === MOST) {
        more++;
        continue;
      }
      const [x1, y1] = placeOf(this.lanes[this.from[i]], this.sent[i]);
      const [x2, y2] = placeOf(this.lanes[this.to[i]], this.received[i]);
      lines.push({ number: i, x1, y1, x2, y2 });
    }
    return { lines, more };
  }

  /* The number of the message whose line is near a point, or -1. */
  static near(lines, x, y) {
    let nearest = { number: -1, far: REACH };
    for (const line of lines) {
      const far = distance(x, y, line);
      if (far < nearest.far)
        nearest = { number: line.number, far };
    }
    return nearest.number;
  }
}

/* Returns a promise of the messages of a trace, or of null if none are known. */
export async function loadMessages(trace) {
  const [table, extent] = [await loadTable("timeline-messages"), await loadTable("timeline-extent")];
  return table?.rows ? new Messages(table, trace.lanes, extent.number("messages_left_out", 0)) : null;
}
