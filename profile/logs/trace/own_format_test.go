package trace

import (
	"slices"
	"testing"
	"time"
)

// All that it takes to add a format: an entry of its own file, and a sample of it with a
// fuzz target. Here both stand in one test file, so that the program does not have the
// format; the battery finds it in the catalogue.
func init() {
	addTable("runlog", "made up: a table of who ran what", tableFormat{
		needs: []string{"when", "who", "gpus_used", "lasted"}, lifts: true,
		columns: []column{
			{"when", readSubmit},
			{"lasted", readRun},
			{"gpus_used", readGPUs},
			{"who", readTenant},
			{"run", readIDOrRow},
		},
	})
	ownSamples["runlog"] = sample{
		data: "run;when;who;gpus_used;lasted\nr1;2026-11-20 10:00:00;ada;2;60\nr2;2026-11-20 10:05:00;bob;one;60\n;2026-11-20 10:06:00;bob;0.5;0\n",
		want: `job_id,tenant,partition,gpu_model,gpus,cpus,mem_gb,class,submit,start,end,run_s,limit_s,priority,deadline,state
r1,ada,,,2,,,,1795168800,,,60,,0,,
3,bob,,,0.5,,,,1795169160,,,1,,0,,
# rows 3, kept 2, folded 0, rejected 1, machine 0, unsorted false
# line 3: gpus_used: not a number
# assumed 1: run time 0: taken as 1 s
# note: the times have no zone and were read as UTC; --tz overrides it
`,
	}
}

func FuzzRunlog(f *testing.F) { fuzz(f, "runlog") }

// TestAFormatIsItsOwnFile shows that nothing but its own file has to name a format: it is
// in the catalogue, told by its first lines, and its columns may be named with Map only
// where it says so.
func TestAFormatIsItsOwnFile(t *testing.T) {
	if !slices.Contains(Formats.Names(), "runlog") {
		t.Fatalf("formats %v", Formats.Names())
	}
	jobs, rep := readAll(t, []byte(ownSamples["runlog"].data), Options{})
	if rep.Format != "runlog" || len(jobs) != 2 {
		t.Errorf("read as %s with %d jobs, want runlog with 2", rep.Format, len(jobs))
	}
	other := "job_id,submit,gpus,run_s\n1,0,1,5\n"
	if _, rep := readAll(t, []byte(other), Options{}); rep.Format != "csv" {
		t.Errorf("a plain table is read as %s", rep.Format)
	}
	mapped := Options{TZ: time.UTC, Map: map[string]string{"submit": "when", "gpus": "gpus_used", "run_s": "lasted"}}
	if _, rep := readAll(t, []byte(ownSamples["runlog"].data), mapped); rep.Format != "csv" {
		t.Errorf("with a Map it is read as %s, want csv: the format does not take one", rep.Format)
	}
}
