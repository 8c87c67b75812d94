//go:build unix

package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"capcli/profile"
	"capcli/profile/logs/parquet"
)

// fakeTicks gives ticks of the made-up box.
func fakeTicks(n int, every time.Duration) []*profile.Tick {
	f := profile.NewFake(profile.SourceOptions{Every: every, Processes: 5 * time.Second, Seed: 1})
	all := make([]*profile.Tick, n)
	for i := range all {
		t := &profile.Tick{At: noon.Add(time.Duration(i) * every), Elapsed: time.Duration(i) * every, Every: every, Took: 3 * time.Millisecond}
		if err := f.Read(context.Background(), t); err != nil {
			panic(err)
		}
		all[i] = t
	}
	return all
}

// BenchmarkWriteTick is what a tick of eight GPUs costs in the log.
func BenchmarkWriteTick(b *testing.B) {
	all := fakeTicks(600, time.Second)
	w, _, err := Create(b.TempDir(), Options{Host: "box", SegmentTime: 1 << 60, SegmentBytes: 1 << 40, SegmentRows: 1 << 40})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	size, n := 0, 0
	var t profile.Tick
	used := cpu()
	for b.Loop() {
		t = *all[n%len(all)]
		t.At = noon + profile.Instant(n)*1000
		if err := w.Write(&t); err != nil {
			b.Fatal(err)
		}
		size += len(w.buf)
		n++
	}
	onCPU(b, used)
	b.ReportMetric(float64(size)/float64(n), "B/tick")
}

// BenchmarkConvert makes the files of ten minutes of eight GPUs.
func BenchmarkConvert(b *testing.B) {
	d := newMemDisk()
	w, _, err := Create("dir", Options{Disk: d, Host: "box"})
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range fakeTicks(600, time.Second) {
		if err := w.Write(t); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	rows := newRower()
	used := cpu()
	for b.Loop() {
		c := d.diskAfterLoss(false)
		l, err := list(c, "dir", "box")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := l.convert(1, "", rows); err != nil {
			b.Fatal(err)
		}
	}
	onCPU(b, used)
}

// A million samples, 125,000 ticks of eight GPUs.
const millionTicks = 125_000

// millionBlock is they as rows of the table samples, in row groups of an hour.
var millionBlocks = sync.OnceValue(func() (blocks []*block) {
	rows := newRower()
	for i, t := range fakeTicks(millionTicks, time.Second) {
		rows.tick(t)
		if rows.blocks[samples].n >= groupRows-8 || i == millionTicks-1 {
			blocks = append(blocks, rows.blocks[samples])
			rows = newRower()
		}
	}
	return blocks
})

type counted int64

func (c *counted) Write(p []byte) (int, error) { *c += counted(len(p)); return len(p), nil }

// BenchmarkWriteMillion writes them sealed, as compacting does, from rows in memory.
func BenchmarkWriteMillion(b *testing.B) {
	blocks := millionBlocks()
	var size counted
	b.ReportAllocs()
	used := cpu()
	for b.Loop() {
		size = 0
		if err := writeBlocks(&size, blocks); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(size)/8/millionTicks, "B/row")
	onCPU(b, used)
	b.ReportMetric(float64(b.N)*8*millionTicks/b.Elapsed().Seconds(), "rows/s")
}

func writeBlocks(w io.Writer, blocks []*block) error {
	t, err := parquet.NewTable(w, specs[samples].columns, nil)
	if err != nil {
		return err
	}
	for _, rows := range blocks {
		pick := rows.allRows()
		rows.sortByKind(pick)
		if err := t.Group(rows.cols, pick); err != nil {
			return err
		}
	}
	return t.Close()
}

// BenchmarkReadMillion reads all columns of all rows back, the seal included.
func BenchmarkReadMillion(b *testing.B) {
	var file bytes.Buffer
	if err := writeBlocks(&file, millionBlocks()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	used := cpu()
	for b.Loop() {
		f, err := parquet.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			b.Fatal(err)
		}
		v := newBlock(samples).cols
		for g := range f.Groups() {
			for i := range v {
				if err := f.Read(g, i, &v[i]); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	onCPU(b, used)
	b.ReportMetric(float64(b.N)*8*millionTicks/b.Elapsed().Seconds(), "rows/s")
}

// plainRow is a sample as a struct, as a plain use of parquet-go has it. The
// metrics that are never null here are not nullable, which is to its advantage.
type plainRow struct {
	TS                                    int64  `parquet:"ts,timestamp(microsecond)"`
	Index                                 int32  `parquet:"gpu_index"`
	UUID                                  string `parquet:"gpu_uuid,dict"`
	Model                                 string `parquet:"gpu_model,dict"`
	Bus                                   string `parquet:"pci_bus,dict"`
	Driver                                string `parquet:"driver,dict"`
	F1, F2, F3, F4, F5, F6, F7, F8        float32
	I1, I2, I3, I4, I5, I6, I7, I8        int64
	I9, I10, I11, I12, I13, I14, I15, I16 int64
	I17, I18, I19, I20, I21, I22          *int64
	Missing                               string `parquet:"missing,dict"`
}

func plainRows(blocks []*block) []plainRow {
	var rows []plainRow
	for _, b := range blocks {
		for k := range b.n {
			r := plainRow{
				TS: b.intAt(sampleTS, k), Index: int32(b.intAt(sampleIndex, k)), UUID: b.textAt(sampleUUID, k), Model: b.textAt(sampleModel, k),
				Bus: b.textAt(sampleBus, k), Driver: b.textAt(sampleDriver, k), Missing: b.textAt(sampleMissing, k),
			}
			fs := [...]*float32{&r.F1, &r.F2, &r.F3, &r.F4, &r.F5, &r.F6, &r.F7, &r.F8}
			is := [...]*int64{&r.I1, &r.I2, &r.I3, &r.I4, &r.I5, &r.I6, &r.I7, &r.I8, &r.I9, &r.I10, &r.I11, &r.I12, &r.I13, &r.I14, &r.I15, &r.I16}
			ps := [...]**int64{&r.I17, &r.I18, &r.I19, &r.I20, &r.I21, &r.I22}
			f, i, p := 0, 0, 0
			for m := range int(profile.NumMetrics) {
				c := &b.cols[sampleMetrics+m]
				switch {
				case c.Floats != nil && f < len(fs):
					*fs[f] = float32(c.Floats[k])
					f++
				case c.Ints != nil && i < len(is):
					*is[i] = c.Ints[k]
					i++
				case c.Ints != nil:
					if !c.Null[k] {
						*ps[p] = &c.Ints[k]
					}
					p++
				}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

func writePlain(w io.Writer, rows []plainRow) error {
	pw := pq.NewGenericWriter[plainRow](w, pq.Compression(&pq.Zstd), pq.MaxRowsPerRowGroup(groupRows))
	for from := 0; from < len(rows); from += 1024 {
		if _, err := pw.Write(rows[from:min(from+1024, len(rows))]); err != nil {
			return err
		}
	}
	return pw.Close()
}

// BenchmarkPlainWriteMillion writes the same figures as structs with parquet-go.
func BenchmarkPlainWriteMillion(b *testing.B) {
	rows := plainRows(millionBlocks())
	var size counted
	b.ReportAllocs()
	used := cpu()
	for b.Loop() {
		size = 0
		if err := writePlain(&size, rows); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(size)/8/millionTicks, "B/row")
	onCPU(b, used)
	b.ReportMetric(float64(b.N)*8*millionTicks/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkPlainReadMillion reads them back as structs.
func BenchmarkPlainReadMillion(b *testing.B) {
	var file bytes.Buffer
	if err := writePlain(&file, plainRows(millionBlocks())); err != nil {
		b.Fatal(err)
	}
	room := make([]plainRow, 1024)
	b.ReportAllocs()
	used := cpu()
	for b.Loop() {
		r := pq.NewGenericReader[plainRow](bytes.NewReader(file.Bytes()))
		n := 0
		for {
			k, err := r.Read(room)
			if n += k; errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
		if n != 8*millionTicks {
			b.Fatalf("%d rows", n)
		}
	}
	onCPU(b, used)
	b.ReportMetric(float64(b.N)*8*millionTicks/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkStoreMillion takes them the whole way: ticks to the log and to files
// of ten minutes, to one file a day, and back as ticks.
func BenchmarkStoreMillion(b *testing.B) {
	all := fakeTicks(millionTicks, time.Second)
	rate := func(b *testing.B, used float64) {
		onCPU(b, used)
		b.ReportMetric(float64(b.N)*8*millionTicks/b.Elapsed().Seconds(), "rows/s")
	}
	var d, files *memDisk
	b.Run("write", func(b *testing.B) {
		used := cpu()
		for b.Loop() {
			files = newMemDisk()
			w, _, err := Create("dir", Options{Disk: files, Host: "box"})
			if err != nil {
				b.Fatal(err)
			}
			for _, t := range all {
				if err := w.Write(t); err != nil {
					b.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
		}
		rate(b, used)
	})
	b.Run("compact", func(b *testing.B) {
		used := cpu()
		for b.Loop() {
			d = files.diskAfterLoss(false)
			if _, err := Compact(context.Background(), d, "dir", CompactOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		rate(b, used)
	})
	b.Run("read", func(b *testing.B) {
		used := cpu()
		for b.Loop() {
			n := 0
			for t, err := range OpenDir(d, "dir").Ticks(Query{}) {
				if err != nil {
					b.Fatal(err)
				}
				n += len(t.Samples)
			}
			if n != 8*millionTicks {
				b.Fatalf("%d samples", n)
			}
		}
		rate(b, used)
	})
}

// cpu gives the CPU seconds that the process has used.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// onCPU reports what one round of a benchmark takes of a core, which a busy
// machine changes less than the time on the wall.
func onCPU(b *testing.B, before float64) {
	b.ReportMetric((cpu()-before)/float64(b.N), "CPU-s/op")
}
