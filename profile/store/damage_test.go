package store

import (
	"bytes"
	"errors"
	"path"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile"
	"capcli/profile/logs/parquet"
	"capcli/testdata/golden"
)

// smallDisk is a store of a few ticks in files, in memory.
func smallDisk(t testing.TB, closed bool) *memDisk {
	t.Helper()
	d := newMemDisk()
	w, _, err := Create("dir", Options{Disk: d, Host: "box"})
	if err != nil {
		t.Fatal(err)
	}
	b := newBox(6, 2, noon, time.Second)
	var tick profile.Tick
	for i := range 12 {
		b.next(&tick)
		if i == 3 {
			tick.Events = append(tick.Events, profile.Event{At: tick.At, Kind: profile.Xid, Device: b.devices[0].UUID, Value: 31})
		}
		if err := w.Write(&tick); err != nil {
			t.Fatal(err)
		}
	}
	if closed {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// refusal reads all of a store, and verifies a file of it, and gives both errors.
func refusal(d *memDisk, name string) (reading, verifying error) {
	for _, err := range OpenDir(d, "dir").Ticks(Query{}) {
		reading = err
	}
	_, verifying = verifyFile(d, name)
	return reading, verifying
}

// Any byte that changes and any length is an InputError to who reads and who
// verifies, in each table's file.
func TestEveryByteOfFiles(t *testing.T) {
	t.Parallel()
	d := smallDisk(t, true)
	tables := 0
	for name, f := range d.files {
		if !strings.HasSuffix(name, fileSuffix) {
			continue
		}
		tables++
		d := &memDisk{files: map[string]*memFile{name: f}}
		if r, v := refusal(d, name); r != nil || v != nil {
			t.Fatalf("%s: %v, %v", name, r, v)
		}
		good := f.data
		bad := func(what string, at int) {
			t.Helper()
			r, v := refusal(d, name)
			var in1, in2 *capcli.InputError
			if !errors.As(r, &in1) || !errors.As(v, &in2) || in1.File != name || in2.File != name {
				t.Fatalf("%s: %s %d: reading gave %v, verifying %v", name, what, at, r, v)
			}
		}
		step := 1
		if golden.Short() {
			step = 13
		}
		flips := []byte{0x01, 0x20, 0xff}
		for at := 0; at < len(good); at += step {
			f.data = bytes.Clone(good)
			f.data[at] ^= flips[at%len(flips)]
			bad("byte", at)
		}
		for n := 0; n < len(good); n += step {
			f.data = good[:n]
			bad("length", n)
		}
		f.data = append(bytes.Clone(good), 0)
		bad("a byte more than", len(good))
		f.data = good
	}
	if tables != int(numTables) {
		t.Errorf("files of %d tables, want %d", tables, numTables)
	}
}

// segmentOf gives the bytes of the one segment and where its frames begin.
func segmentOf(t testing.TB) (b []byte, frames []int) {
	t.Helper()
	d := smallDisk(t, false)
	for name, f := range d.files {
		if strings.HasSuffix(name, logSuffix) {
			b = f.data
		}
	}
	for at := len(magic); at < len(b); {
		frames = append(frames, at)
		_, end, ok := frameAt(b, at)
		if !ok {
			t.Fatalf("no frame at %d", at)
		}
		at = end
	}
	return b, frames
}

// A byte that changes in a segment ends it there, never changes a figure; what
// is behind is counted, and told apart from the torn end of a write.
func TestEveryByteOfSegments(t *testing.T) {
	good, frames := segmentOf(t)
	whole := newRower()
	play(good, whole)
	last := frames[len(frames)-1]
	for at := range good {
		for _, flip := range []byte{0x01, 0x20, 0xff} {
			b := bytes.Clone(good)
			b[at] ^= flip
			in := 0 // the frame that is hurt; the first is the header
			for in < len(frames) && frames[in] <= at {
				in++
			}
			rows := newRower()
			s, _ := play(b, rows)
			if want := max(in-2, 0); s.ticks != want {
				t.Fatalf("byte %d: %d ticks, want %d", at, s.ticks, want)
			}
			if want := at < last; s.damaged != want {
				t.Fatalf("byte %d, the last frame is at %d: damaged is %v", at, last, s.damaged)
			}
			if s.dropped == 0 {
				t.Fatalf("byte %d: nothing was dropped", at)
			}
			prefix(t, rows, whole)
		}
	}
}

func prefix(t *testing.T, rows, whole *rower) {
	t.Helper()
	for table := range numTables {
		b, w := rows.blocks[table], whole.blocks[table]
		if b.n > w.n {
			t.Fatalf("%d rows of %d", b.n, w.n)
		}
		for i := range b.cols {
			for k := range b.n {
				if b.cols[i].Null[k] != w.cols[i].Null[k] || b.intAt2(i, k) != w.intAt2(i, k) || b.cols[i].Texts != nil && b.textAt(i, k) != w.textAt(i, k) {
					t.Fatalf("%s: row %d is another", b.columns[i].Name, k)
				}
			}
		}
	}
}

// intAt2 gives a number of whatever kind.
func (b *block) intAt2(col, row int) float64 {
	switch c := &b.cols[col]; {
	case c.Null[row] || c.Texts != nil:
		return 0
	case c.Floats != nil:
		return c.Floats[row]
	default:
		return float64(c.Ints[row])
	}
}

func TestEveryLengthOfSegments(t *testing.T) {
	good, frames := segmentOf(t)
	whole := newRower()
	play(good, whole)
	for n := range good {
		rows := newRower()
		s, _ := play(good[:n], rows)
		sound := 0
		for _, at := range frames[1:] {
			if _, end, _ := frameAt(good, at); end <= n {
				sound++
			}
		}
		if s.ticks != sound || s.damaged {
			t.Fatalf("%d bytes: %d ticks, damaged %v; want %d", n, s.ticks, s.damaged, sound)
		}
		prefix(t, rows, whole)
	}
	if s, _ := play(append(bytes.Clone(good), make([]byte, 4096)...), newRower()); s.ticks != len(frames)-1 || s.damaged || s.dropped != 4096 {
		t.Errorf("zeros behind the end, as after a loss of power: %+v", s)
	}
}

// A damaged segment is saved up to the damage and kept aside.
func TestDamagedSegmentIsKept(t *testing.T) {
	d := smallDisk(t, false).diskAfterLoss(false)
	_, frames := segmentOf(t)
	name := path.Join("dir", logFolder, "host=box", logName(1))
	d.files[name].data[frames[6]+10] ^= 4
	if _, err := verifyFile(d, name); err == nil {
		t.Error("a damaged segment was verified")
	}
	w, rec, err := Create("dir", Options{Disk: d, Host: "box"})
	if err != nil {
		t.Fatal(err)
	}
	if rec.Ticks != 5 || rec.Dropped == 0 || len(rec.Damaged) != 1 || d.files[rec.Damaged[0]] == nil {
		t.Fatalf("recovered %+v", rec)
	}
	b := newBox(7, 2, noon+60e6, time.Second)
	var tick profile.Tick
	b.next(&tick)
	if err := errors.Join(w.Write(&tick), w.Close()); err != nil {
		t.Fatal(err)
	}
	var told []profile.Event
	n := 0
	for tick, err := range OpenDir(d, "dir").Ticks(Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		told = append(told, tick.Events...)
	}
	if n != 6 || len(told) != 3 || told[1].Kind != profile.Recovered || told[1].Value != int64(rec.Dropped) || told[2].Kind != profile.Gap {
		t.Errorf("%d ticks, events %+v", n, told)
	}
	v, err := Verify(d, "dir")
	if err != nil || len(v.Problems) != 1 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

// A file that is in another's place is refused.
func TestFilesInOtherPlaces(t *testing.T) {
	d := smallDisk(t, true)
	for name, f := range d.files {
		if !strings.Contains(name, "/samples-") {
			continue
		}
		for _, other := range []string{
			strings.Replace(name, "samples-", "ticks-", 1), strings.Replace(name, "00000001", "00000007", 1),
			strings.Replace(name, "host=box", "host=other", 1), strings.Replace(name, "2026-11-24", "2026-11-23", 1),
		} {
			m := newMemDisk()
			m.files[other] = f
			if v, err := Verify(m, "dir"); err != nil || len(v.Problems) != 1 {
				t.Errorf("%s: %+v, %v", other, v, err)
			}
		}
	}
}

// FuzzSegment: whatever stands in a frame, no panic, and all columns are
// of a length.
func FuzzSegment(f *testing.F) {
	good, frames := segmentOf(f)
	for _, at := range frames[1:] {
		payload, _, _ := frameAt(good, at)
		f.Add(payload, []byte("{}"))
	}
	head, _, _ := frameAt(good, frames[0])
	f.Add([]byte{tickFrame}, head[1:])
	f.Add(framed(nil, nil)[frameHead:], []byte(`{"Schema":1,"HostMetrics":["cpu_pct"],"HostSteps":[0.125],"GroupMetrics":["x"],"GroupSteps":[1],"Reasons":["known"]}`))
	f.Fuzz(func(t *testing.T, payload, head []byte) {
		for _, start := range [][]byte{good[:frames[1]], framed(nil, append([]byte{headerFrame}, head...))} {
			b := bytes.Clone(start)
			if !bytes.HasPrefix(b, []byte(magic)) {
				b = append([]byte(magic), b...)
			}
			b = framed(b, payload)
			rows := newRower()
			s, _ := play(b, rows)
			if s.dropped < 0 || s.dropped > len(b) || rows.blocks[ticks].n != s.ticks {
				t.Fatalf("%+v of %d bytes", s, len(b))
			}
			for table := range numTables {
				if rows.blocks[table].n == 0 {
					continue
				}
				for i := range rows.blocks[table].cols {
					if n := len(rows.blocks[table].cols[i].Null); n != rows.blocks[table].n {
						t.Fatalf("column %d has %d rows of %d", i, n, rows.blocks[table].n)
					}
				}
				rows.blocks[table].sortByKind(rows.blocks[table].allRows())
			}
		}
	})
}

func framed(b, payload []byte) []byte {
	if len(payload) == 0 || len(payload) > maxFrame {
		payload = []byte{0}
	}
	from := len(b)
	b = append(beginFrame(b), payload...)
	endFrame(b, from)
	return b
}

// verifyFile holds one file against its seal or checksums: a table or a segment.
// An error says what is wrong with it.
func verifyFile(disk Disk, name string) (*Verified, error) {
	if disk == nil {
		disk = System{}
	}
	v := &Verified{Rows: map[string]int64{}}
	stem := strings.TrimSuffix(path.Base(name), oddSuffix)
	if _, ok := seqOfLog(stem); ok {
		return v, v.segment(disk, name, false)
	}
	p, ok := parsePiece("", path.Base(name))
	if !ok {
		return v, &capcli.InputError{File: name, Text: "the name is not that of a file that capcli profile writes", Hint: "give the directory, or a file as it was named"}
	}
	at, err := disk.Open(name)
	if err != nil {
		return v, diskFault("opening", name, err)
	}
	size, err := at.Size()
	host := ""
	if err == nil {
		var f *parquet.File
		if f, err = parquet.Open(at, size); err == nil {
			host, _ = f.Meta(metaHost)
		}
	}
	_ = at.Close() // it was only read
	if err != nil {
		return v, inFile(name, err)
	}
	return v, v.file(disk, name, &p, host)
}
