package store

import (
	"slices"

	"capcli"
	"capcli/profile"
)

// know sets h.devs to the device of each row of samples. Rows of one device mostly follow each other, so it
// looks up a device only where it changes.
func (r *Reader) know(h *head) {
	b := h.s.acc
	if h.s.t != samples {
		return
	}
	h.devs = slices.Grow(h.devs[:0], b.n)[:b.n]
	clear(h.devs)
	for k := range b.n {
		if k > 0 && sameDevice(b, k, k-1) {
			h.devs[k] = h.devs[k-1]
			continue
		}
		h.devs[k] = r.device(deviceAt(b, sampleIndex, k))
	}
}

// processDevice returns the device of a row of processes: that of a sample of the tick, which was read
// before, or what else is known of it.
func (r *Reader) processDevice(b *block, row int, t *profile.Tick) *profile.Device {
	uuid := b.cols[procUUID].Texts[row]
	for i := range t.Samples {
		if d := t.Samples[i].Device; d.UUID == uuid {
			return d
		}
	}
	return r.owner(profile.Device{
		Index: int(b.cols[procIndex].Ints[row]), UUID: uuid, GI: b.instanceAt(procGI, row), CI: b.instanceAt(procCI, row),
	})
}

func sameDevice(b *block, i, j int) bool {
	for col := sampleIndex; col <= samplePeakNVLink; col++ {
		if b.compareCell(col, int32(i), int32(j)) != 0 {
			return false
		}
	}
	return true
}

// device returns the same pointer for all equal devices.
func (r *Reader) device(d profile.Device) *profile.Device {
	known, ok := r.devices[d]
	if !ok {
		known = &d
		r.devices[d] = known
		r.owners[profile.Device{Index: d.Index, UUID: d.UUID, GI: d.GI, CI: d.CI}] = known // what rows of processes hold of it
		r.uuids[d.UUID] = known
	}
	return known
}

// owner returns the device of a process: the device with these fields that the samples named
// last, or d where they named none.
func (r *Reader) owner(d profile.Device) *profile.Device {
	known, ok := r.owners[d]
	if !ok {
		known = &d
		r.owners[d] = known
	}
	return known
}

func (b *block) instanceAt(col, row int) int { return int(cellAt(b.cols[col].Ints, b, col, row, -1)) }

func (b *block) textAt(col, row int) string { return cellAt(b.cols[col].Texts, b, col, row, "") }

func (b *block) floatAt(col, row int) float64 { return cellAt(b.cols[col].Floats, b, col, row, 0) }

func (b *block) intAt(col, row int) int64 { return cellAt(b.cols[col].Ints, b, col, row, 0) }

// cellAt returns the cell of a row of the column with these values, or null where it is null.
func cellAt[T any](values []T, b *block, col, row int, null T) T {
	if b.cols[col].Null[row] {
		return null
	}
	return values[row]
}

// deviceAt returns the device of a row, of whose columns the first is that numbered at.
func deviceAt(b *block, at, row int) profile.Device {
	at -= sampleIndex
	return profile.Device{
		Index: int(b.intAt(at+sampleIndex, row)), UUID: b.textAt(at+sampleUUID, row), Model: b.textAt(at+sampleModel, row),
		Bus: b.textAt(at+sampleBus, row), Driver: b.textAt(at+sampleDriver, row), Parent: b.textAt(at+sampleParent, row),
		Profile: b.textAt(at+sampleProfile, row), GI: b.instanceAt(at+sampleGI, row), CI: b.instanceAt(at+sampleCI, row),
		PeakMemBytesPerS: b.floatAt(at+samplePeakMem, row), MaxSMClockMHz: b.floatAt(at+sampleMaxClock, row),
		SMs: int(b.intAt(at+sampleSMs, row)), PeakPCIeMiBPerS: b.floatAt(at+samplePeakPCIe, row), PeakNVLinkMiBPerS: b.floatAt(at+samplePeakNVLink, row),
	}
}

// tickRow sets the times of t. Ticks at the same instant count as one; a tick of events alone may
// come right before the first tick with samples.
func tickRow(b *block, row int, t *profile.Tick) {
	t.Elapsed, t.Every = ofMicros(b.intAt(tickElapsed, row)), ofMicros(b.intAt(tickEvery, row))
	t.Took = max(t.Took, ofMicros(b.intAt(tickTook, row)))
	t.LookedAtProcesses = t.LookedAtProcesses || b.intAt(tickLooked, row) != 0
}

// wants reports whether the query selects a device, by its UUID or by that of its parent.
func (q *Query) wants(d *profile.Device) bool {
	return len(q.Devices) == 0 || slices.Contains(q.Devices, d.UUID) || d.Parent != "" && slices.Contains(q.Devices, d.Parent)
}

func (r *Reader) sampleRow(h *head, row int, t *profile.Tick, q Query) {
	b, d := h.s.acc, h.devs[row]
	if !q.wants(d) {
		return
	}
	s := t.NextSample(d)
	why := r.parseReasons(b.textAt(sampleMissing, row))
	for m := range profile.NumMetrics {
		col := sampleMetrics + int(m)
		switch {
		case b.cols[col].Null[row]:
			s.Miss(m, why[m])
		case b.cols[col].Floats != nil:
			n, _ := grids[m].steps(b.cols[col].Floats[row]) // single precision is close enough to find the step
			s.Set(m, grids[m].value(n))
		default:
			s.Set(m, float64(b.cols[col].Ints[row]))
		}
	}
}

// parseReasons returns the reason of each metric from the cell of column missing. A metric that
// the cell does not name is NotAsked: the version that wrote the file did not know it.
func (r *Reader) parseReasons(words string) *[profile.NumMetrics]profile.Reason {
	if w, ok := r.reasons[words]; ok {
		return w
	}
	w := new([profile.NumMetrics]profile.Reason)
	for m := range w {
		w[m] = profile.NotAsked
	}
	reasonsOf(words, metricNames, w[:])
	if len(r.reasons) >= maxKnown {
		clear(r.reasons)
	}
	r.reasons[words] = w
	return w
}

func (r *Reader) processRow(h *head, row int, t *profile.Tick, q Query) {
	b := h.s.acc
	d := r.processDevice(b, row, t)
	if !q.wants(d) {
		return
	}
	p := profile.Process{
		Device: d, PID: b.intAt(procPID, row), User: b.textAt(procUser, row), Command: b.textAt(procCommand, row),
		Container: b.textAt(procContainer, row), Pod: b.textAt(procPod, row), Namespace: b.textAt(procNamespace, row),
		Job: b.textAt(procJob, row), Kind: b.textAt(procKind, row), Start: capcli.NoTime,
		MemBytes: float64(b.intAt(procMem, row)),
	}
	if !b.cols[procStart].Null[row] {
		p.Start = profile.Instant(b.intAt(procStart, row)).Second()
	}
	if n, ok := pctGrid.steps(b.floatAt(procSM, row)); ok {
		p.SMPct = pctGrid.value(n)
	}
	if words := b.textAt(procMissing, row); words != "" {
		var why [2]profile.Reason
		reasonsOf(words, processNames, why[:])
		p.MemWhy, p.SMWhy = why[0], why[1]
	}
	t.Processes = append(t.Processes, p)
}

func eventRow(b *block, row int, t *profile.Tick, q Query) {
	e := profile.Event{
		At: profile.Instant(b.intAt(eventTS, row)), Kind: profile.EventKind(b.textAt(eventKind, row)),
		Device: b.textAt(eventDevice, row), Value: b.intAt(eventValue, row), Text: b.textAt(eventText, row),
	}
	if len(q.Devices) == 0 || e.Device == "" || slices.Contains(q.Devices, e.Device) {
		t.Events = append(t.Events, e)
	}
}
