package trace

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"

	"capcli"
)

// lean is a file of n jobs with the fewest columns.
func lean(n int) []byte {
	b := []byte("job_id,submit,gpus,run_s\n")
	for i := range n {
		b = strconv.AppendInt(b, int64(i+1), 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, 1_600_000_000+int64(i)*7, 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, int64(1<<(i%4)), 10)
		b = append(b, ',')
		b = append(strconv.AppendInt(b, int64(60+i*7919%86400), 10), '\n')
	}
	return b
}

// fullTrace is a file of n jobs with every column.
func fullTrace(n int) []byte {
	var b bytes.Buffer
	b.WriteString("job_id,tenant,partition,gpu_model,gpus,cpus,mem_gb,class,submit,start,end,run_s,limit_s,priority,deadline,state\n")
	for i := range n {
		at := 1_600_000_000 + i*7
		run := 60 + i*7919%86400
		fmt.Fprintf(&b, "j-%x,team%d,batch,A100,%d,%d,64.5,training,%d,%d,%d,%d,86400,%d,,COMPLETED\n", i*2654435761, i%40, 1<<(i%4), 8<<(i%4), at, at+30, at+30+run, run, i%3)
	}
	return b.Bytes()
}

func slurm(n int) []byte {
	var b bytes.Buffer
	b.WriteString("JobID|JobIDRaw|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES|ReqTRES\n")
	for i := range n {
		at := int64(1_700_000_000 + i*7)
		when := func(t int64) string { return capcli.Time(t).Std().Format("2006-01-02T15:04:05") }
		fmt.Fprintf(&b, "%d|%d|u%d|acc%d|gpu|COMPLETED|%s|%s|%s|%d|1440|billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1|billing=8,cpu=8,gres/gpu=2,mem=64G,node=1\n",
			i+1, i+1, i%50, i%9, when(at), when(at+60), when(at+60+3600), 3600)
		fmt.Fprintf(&b, "%d.batch|%d.batch||acc%d||COMPLETED|%s|%s|%s|%d||cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1|\n",
			i+1, i+1, i%9, when(at+60), when(at+60), when(at+60+3600), 3600)
	}
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	const n = 200_000
	for _, c := range []struct {
		name string
		data []byte
	}{{"csv-lean", lean(n)}, {"csv-full", fullTrace(n)}, {"sacct-with-steps", slurm(n / 4)}, {"jsonl", asJSONL(b, fullTrace(n/2))}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.data)))
			b.ReportAllocs()
			jobs := 0
			for b.Loop() {
				r, err := Open(Input{Name: "bench", R: bytes.NewReader(c.data)}, Options{TZ: berlin(b)})
				if err != nil {
					b.Fatal(err)
				}
				for _, err := range r.Jobs() {
					if err != nil {
						b.Fatal(err)
					}
					jobs++
				}
			}
			b.ReportMetric(float64(jobs)/b.Elapsed().Seconds()/1e6, "Mjobs/s")
		})
	}
}

func asJSONL(tb testing.TB, data []byte) []byte {
	tb.Helper()
	r, err := Open(Input{Name: "bench", R: bytes.NewReader(data)}, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	var out bytes.Buffer
	if err := WriteJSONL(&out, r.Jobs()); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}
