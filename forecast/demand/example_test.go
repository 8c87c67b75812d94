package demand_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"capcli"
	"capcli/forecast/demand"
	"capcli/profile/logs/trace"
)

// open opens text under any name, as os.Open would open a file.
func open(text string) trace.Opener {
	return func(name string) (trace.Input, io.Closer, error) {
		return trace.Input{Name: name, R: strings.NewReader(text)}, io.NopCloser(nil), nil
	}
}

// A CSV of demand, and the sum of its series.
func ExampleRead() {
	table := `unique_id,ds,y
ml,2026-01-05,40
web,2026-01-05,8
ml,2026-01-06,44
web,2026-01-06,9
`
	hs, err := demand.Read(context.Background(), demand.Request{Inputs: []string{"gpus.csv"}, Total: true}, demand.Sources{Open: open(table)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, h := range hs.List {
		fmt.Println(h.Name, h.StampText(0), h.Values)
	}
	// Output:
	// total 2026-01-05 [48 53]
	// ml 2026-01-05 [40 44]
	// web 2026-01-05 [8 9]
}

// The usage of a job log, and the jobs that waited meanwhile.
func ExampleRead_jobs() {
	log := `job_id,submit,start,end,gpus
a,2026-01-05T00:00:00Z,2026-01-05T00:00:00Z,2026-01-05T02:00:00Z,6
b,2026-01-05T00:00:00Z,2026-01-05T02:00:00Z,2026-01-05T05:00:00Z,4
c,2026-01-05T03:00:00Z,2026-01-05T05:00:00Z,2026-01-05T06:00:00Z,8
d,2026-01-05T05:00:00Z,2026-01-05T06:00:00Z,2026-01-05T07:00:00Z,1
`
	hs, err := demand.Read(context.Background(), demand.Request{
		Inputs: []string{"jobs.csv"}, Measure: "usage", Step: capcli.Step{Seconds: capcli.Hour}, Past: demand.Level{GPUs: 8},
	}, demand.Sources{Open: open(log)})
	if err != nil {
		fmt.Println(err)
		return
	}
	h := hs.List[0]
	fmt.Println(h.Name, "from", h.StampText(0))
	fmt.Println("used   ", h.Values)
	fmt.Println("waiting", h.Censoring.Pending)
	fmt.Println("there  ", h.Censoring.Limit)
	// Output:
	// total from 2026-01-05T00:00:00Z
	// used    [6 6 4 4 4]
	// waiting [4 4 0 8 8]
	// there   [8 8 8 8 8]
}
