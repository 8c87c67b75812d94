package parquet

import (
	"bytes"
	"io"
	"runtime"
	"runtime/metrics"
	"testing"

	"capcli/profile/logs/trace"
)

const benchJobs = 1_000_000

// peakHeap runs do and gives the largest heap seen while it ran, in MiB.
func peakHeap(do func()) float64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		for {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-done:
				peak <- most
				return
			default:
				runtime.Gosched()
			}
		}
	}()
	do()
	close(done)
	return float64(max(<-peak, before)-before) / (1 << 20)
}

func BenchmarkWriteMillion(b *testing.B) {
	jobs := someJobs(benchJobs)
	b.ReportAllocs()
	b.ResetTimer()
	var size int
	for b.Loop() {
		size = 0
		w, err := NewJobWriter(writerFunc(func(p []byte) (int, error) { size += len(p); return len(p), nil }), nil, trace.Extra{Eligible: true})
		if err != nil {
			b.Fatal(err)
		}
		for i := range jobs {
			if err := w.Write(jobs[i]); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(size)/(1<<20), "MiB")
	b.ReportMetric(float64(b.N)*benchJobs/b.Elapsed().Seconds(), "jobs/s")
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func BenchmarkReadMillion(b *testing.B) {
	file := encode(b, someJobs(benchJobs), nil)
	read := func() {
		r, err := trace.Open(trace.Input{Name: "b", At: bytes.NewReader(file), Size: int64(len(file))}, trace.Options{})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for _, err := range r.Jobs() {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != benchJobs {
			b.Fatalf("%d jobs", n)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		read()
	}
	b.ReportMetric(float64(b.N)*benchJobs/b.Elapsed().Seconds(), "jobs/s")
	b.StopTimer()
	b.ReportMetric(peakHeap(read), "peak-MiB")
}

// BenchmarkReadColumns leaves out what trace does with each job (bounds,
// repeated ids), to show what reading itself costs.
func BenchmarkReadColumns(b *testing.B) {
	file := encode(b, someJobs(benchJobs), nil)
	b.ReportAllocs()
	for b.Loop() {
		f, err := open(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			b.Fatal(err)
		}
		j := jobs{f: f}
		for i := range wants {
			j.fields[i].want = wants[i]
			l, ok := f.column(wants[i].name)
			if !ok { // no job has it
				continue
			}
			if err := j.fields[i].open(f, l); err != nil {
				b.Fatal(err)
			}
		}
		for n := 1; n > 0; {
			if n, err = j.nextBatch(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)*benchJobs/b.Elapsed().Seconds(), "jobs/s")
}

func BenchmarkVerifyMillion(b *testing.B) {
	file := encode(b, someJobs(benchJobs), nil)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if err := Verify(bytes.NewReader(file), int64(len(file))); err != nil {
			b.Fatal(err)
		}
	}
}

var _ io.Writer = writerFunc(nil)
