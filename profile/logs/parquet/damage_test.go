package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/testdata/golden"
)

// readColumns reads every column of a file without what trace adds to it.
func readColumns(b []byte) error {
	f, err := open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	var j jobs
	j.f = f
	for i := range wants {
		j.fields[i].want = wants[i]
		if l, ok := f.column(wants[i].name); ok {
			if err := j.fields[i].open(f, l); err != nil {
				return err
			}
		}
	}
	for i := range f.columns {
		if strings.HasPrefix(f.columns[i].name, "tag_") {
			d := &field{want: want{name: f.columns[i].name, what: texts}}
			if err := d.open(f, f.columns[i]); err != nil {
				return err
			}
			j.read = append(j.read, d)
		}
	}
	for {
		if n, err := j.nextBatch(); n == 0 || err != nil {
			return err
		}
	}
}

// Any one-byte change is seen, by Verify and by reading (three values each).
func TestEveryByteCounts(t *testing.T) {
	golden.SkipLong(t)
	good := encode(t, someJobs(100), map[string]string{"origin": "test"})
	b := bytes.Clone(good)
	for at := range good {
		for _, flip := range []byte{0x01, 0x20, 0xff} {
			b[at] = good[at] ^ flip
			err := Verify(bytes.NewReader(b), int64(len(b)))
			if err == nil || errors.Is(err, ErrUnsealed) {
				t.Fatalf("byte %d, %#x for %#x: Verify gave %v", at, b[at], good[at], err)
			}
			if readColumns(b) == nil {
				t.Fatalf("byte %d, %#x for %#x: read without an error", at, b[at], good[at])
			}
		}
		b[at] = good[at]
	}
	if err := Verify(bytes.NewReader(b), int64(len(b))); err != nil {
		t.Fatal(err)
	}
}

func TestEveryLengthCounts(t *testing.T) {
	good := encode(t, someJobs(150), nil)
	for n := range good {
		if err := readColumns(good[:n]); err == nil {
			t.Fatalf("the first %d bytes were read without an error", n)
		}
	}
	if err := readColumns(append(bytes.Clone(good), 0)); err == nil {
		t.Error("a byte more was read without an error")
	}
}

// Without the seal, page checksums still stand between damage and a wrong job.
func TestChecksumAlone(t *testing.T) {
	want := someJobs(150)
	b := unseal(t, encode(t, want, nil))
	if err := Verify(bytes.NewReader(b), int64(len(b))); !errors.Is(err, ErrUnsealed) {
		t.Fatalf("Verify gave %v", err)
	}
	f, err := open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.columns {
		ch, err := f.chunk(0, &f.columns[i])
		if err != nil {
			t.Fatal(err)
		}
		_, payload, ok, err := ch.nextPage()
		if err != nil || !ok || len(payload) == 0 {
			continue
		}
		at := bytes.Index(b, payload)
		b[at] ^= 0x10
		if err := readColumns(b); err == nil {
			t.Errorf("column %q: a changed payload was read", f.columns[i].name)
		}
		b[at] ^= 0x10
	}
}

// unseal makes a file of other origin out of ours, equal in length.
func unseal(t testing.TB, b []byte) []byte {
	t.Helper()
	b = bytes.Clone(b)
	for _, word := range []string{sealKey, madeBy + "version"} {
		at := bytes.LastIndex(b, []byte(word))
		if at < 0 {
			t.Fatalf("no %q in the file", word)
		}
		b[at] = 'x'
	}
	return b
}

func TestDamageIsInputError(t *testing.T) {
	good := encode(t, someJobs(10), nil)
	long := bytes.Clone(good)
	binary.LittleEndian.PutUint32(long[len(long)-8:], 1<<31)
	cases := map[string][]byte{
		"four bytes":       good[:4],
		"cut short":        good[:len(good)/2],
		"footer too long":  long,
		"other magic":      append(bytes.Clone(good[:len(good)-4]), "PARE"...),
		"text behind PAR1": append([]byte("PAR1"), bytes.Repeat([]byte("job_id,submit\n"), 100)...),
	}
	for name, b := range cases {
		t.Run(name, func(t *testing.T) {
			_, _, err := decode(b, trace.Options{})
			var in *capcli.InputError
			if !errors.As(err, &in) {
				t.Fatalf("got %v, want an InputError", err)
			}
			if in.File != "jobs.parquet" || in.Hint == "" {
				t.Errorf("file %q, hint %q", in.File, in.Hint)
			}
		})
	}
}

// compact writes Thrift by hand, for lies that no library would write.
type compact struct{ bytes.Buffer }

func (c *compact) head(delta, wire byte) { c.WriteByte(delta<<4 | wire) }
func (c *compact) uvarint(u uint64)      { c.Write(binary.AppendUvarint(nil, u)) }

// TestLies: lengths and counts that would take gigabytes are refused first.
func TestLies(t *testing.T) {
	footers := map[string]func(c *compact){
		"list of two billion": func(c *compact) {
			c.head(2, wireList)
			c.WriteByte(0xf0 | wireStruct)
			c.uvarint(1 << 31)
		},
		"text of two billion": func(c *compact) {
			c.head(6, wireBinary)
			c.uvarint(1 << 31)
		},
		"a million row groups": func(c *compact) {
			c.head(4, wireList)
			c.WriteByte(0xf0 | wireStruct)
			c.uvarint(1 << 20)
			c.Write(make([]byte, 1<<20))
			c.WriteByte(0)
		},
		"a million words of metadata": func(c *compact) {
			c.head(5, wireList)
			c.WriteByte(0xf0 | wireStruct)
			c.uvarint(1 << 20)
			c.Write(make([]byte, 1<<20))
			c.WriteByte(0)
		},
		"structs without end": func(c *compact) {
			for range 1 << 16 {
				c.head(1, wireStruct)
			}
		},
		"a long varint": func(c *compact) {
			c.head(3, wireI64)
			c.Write(bytes.Repeat([]byte{0x80}, 1<<20))
		},
	}
	for name, lie := range footers {
		t.Run(name, func(t *testing.T) {
			var c compact
			lie(&c)
			b := append([]byte("PAR1"), c.Bytes()...)
			b = binary.LittleEndian.AppendUint32(b, uint32(c.Len()))
			b = append(b, "PAR1"...)
			var in *capcli.InputError
			peak := peakHeap(func() {
				if err := readColumns(b); !errors.As(err, &in) {
					t.Errorf("got %v", err)
				}
			})
			if peak > 16 {
				t.Errorf("took %.0f MiB", peak)
			}
		})
	}
}

// A page header may lie too: each field of a real one is set to something
// absurd, with the checksum of the payload right.
func TestPageHeadLies(t *testing.T) {
	rows := int64(1000)
	lies := map[string]pageHead{
		"two gigabytes raw":      {kind: dataPage, raw: 1<<31 - 1, packed: 8, values: rows},
		"two gigabytes packed":   {kind: dataPage, raw: 8, packed: 1<<31 - 1, values: rows},
		"negative":               {kind: dataPage, raw: -1, packed: 8, values: rows},
		"billions of values":     {kind: dataPage, raw: 8, packed: 8, values: 1<<31 - 1},
		"billions in dictionary": {kind: dictPage, raw: 8, packed: 8, values: 1<<31 - 1},
		"more nulls than rows":   {kind: dataPageV2, raw: 8, packed: 8, values: 10, nulls: 11},
	}
	for name, h := range lies {
		t.Run(name, func(t *testing.T) {
			if err := h.check(1<<20, rows); err == nil {
				t.Error("taken")
			}
		})
	}
}

// Bombs: pages that unpack to more than they say, and runs without end.
func TestBombs(t *testing.T) {
	r := newRuns(binary.AppendUvarint(nil, 1<<31<<1), 0)
	dst := make([]uint32, batch)
	if err := r.read(dst); err != nil {
		t.Errorf("a long run of nothing: %v", err)
	}
	if _, err := newDeltas([]byte{0x80, 0x01, 4, 0xff, 0xff, 0xff, 0xff, 7, 0}, 1000); err == nil {
		t.Error("two billion deltas in a page of 1000 values were taken")
	}
	// One long text, then thousands that share all of it: a delta stream each
	// for the shared parts (0, then 1 MiB) and for the rest (1 MiB, then 0).
	long := deltaTexts{sharing: true, b: make([]byte, maxText), names: &names{once: true}}
	long.shared = deltas{left: 1000, widths: []byte{0}, mini: 1, minis: 1, perMini: 1 << 15, begun: true, value: maxText}
	long.shared.b = []byte{0, 0}
	long.size = deltas{left: 1000, begun: true, minis: 1, perMini: 1 << 15, b: []byte{0, 0}}
	long.last = make([]byte, maxText)
	if peak := peakHeap(func() {
		if long.read(newVector(texts, batch)) == nil {
			t.Error("half a gigabyte of texts came out of two bytes")
		}
	}); peak > 200 {
		t.Errorf("took %.0f MiB", peak)
	}
	zeros := make([]byte, 1<<24)
	for codec, packed := range packedBy(t, zeros) {
		if peak := peakHeap(func() {
			if _, err := unpack(codec, nil, packed, 100); err == nil {
				t.Errorf("%v: 16 MiB came out of a page of 100 bytes", codec)
			}
		}); peak > 12 {
			t.Errorf("%v: took %.0f MiB for a page of 100 bytes", codec, peak)
		}
		got, err := unpack(codec, nil, packed, len(zeros))
		if err != nil || crc32.ChecksumIEEE(got) != crc32.ChecksumIEEE(zeros) {
			t.Errorf("%v: %v", codec, err)
		}
		if _, err := unpack(codec, nil, packed, len(zeros)+1); err == nil {
			t.Errorf("%v: a page a byte short was taken", codec)
		}
	}
}

// FuzzParquet: whatever the bytes, no panic, no great memory, an *InputError or
// jobs; and what our own seal passes is what we wrote.
func FuzzParquet(f *testing.F) {
	good := encode(f, someJobs(20), nil)
	loose := unseal(f, good)
	f.Add(good)
	f.Add(loose)
	for _, b := range foreignFiles(f) {
		f.Add(b)
	}
	for at := 0; at < len(loose); at += 97 {
		b := bytes.Clone(loose)
		b[at] ^= 0xff
		f.Add(b)
	}
	f.Add(good[:len(good)-9])
	f.Fuzz(func(t *testing.T, b []byte) {
		jobs, rep, err := decode(b, trace.Options{Format: "parquet"})
		var in *capcli.InputError
		if err != nil && !errors.As(err, &in) {
			t.Fatalf("error of another kind: %v", err)
		}
		if int64(len(jobs)) != rep.Kept || rep.Rows != rep.Kept+rep.Rejected {
			t.Fatalf("%d jobs, report %+v", len(jobs), rep)
		}
		if Verify(bytes.NewReader(b), int64(len(b))) == nil && !bytes.Equal(b, good) {
			t.Fatal("Verify passed a file that nobody wrote")
		}
	})
}
