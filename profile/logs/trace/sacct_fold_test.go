package trace

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"capcli"
)

const sacctHeader = "JobID|JobIDRaw|User|State|Submit|Start|End|ElapsedRaw|AllocTRES\n"

func TestSacctFold(t *testing.T) {
	const gpu = "|gres/gpu=2,node=1\n"
	for _, c := range []struct {
		name, rows string
		want       string // id state submit start end run of each job
		folded     int64
	}{
		{
			"requeue", "1|1|a|REQUEUED|100|110|120|10" + gpu + "1|1|a|COMPLETED|120|200|260|60" + gpu,
			"1 COMPLETED 100 200 260 60", 1,
		},
		{
			"requeue told backwards", "1|1|a|COMPLETED|120|200|260|60" + gpu + "1|1|a|REQUEUED|100|110|120|10" + gpu,
			"1 COMPLETED 100 200 260 60", 1,
		},
		{
			"preempted, then cancelled while pending", "1|1|a|PREEMPTED|100|110|120|10" + gpu + "1|1|a|CANCELLED by 7|120|None|150|0|\n",
			"1 CANCELLED 100 110 120 10", 1,
		},
		{
			"seen running, then ended, in two dumps", "1|1|a|RUNNING|100|110|Unknown|10" + gpu + "2|2|a|COMPLETED|101|111|112|1" + gpu + "1|1|a|COMPLETED|100|110|170|60" + gpu,
			"1 COMPLETED 100 110 170 60, 2 COMPLETED 101 111 112 1", 1,
		},
		{
			"ended, then seen running in an older dump", "1|1|a|COMPLETED|100|110|170|60" + gpu + "1|1|a|RUNNING|100|110|Unknown|10" + gpu,
			"1 COMPLETED 100 110 170 60", 1,
		},
		{
			"the same row twice", "1|1|a|COMPLETED|100|110|170|60" + gpu + "1|1|a|COMPLETED|100|110|170|60" + gpu,
			"1 COMPLETED 100 110 170 60", 1,
		},
		{
			"steps before another job's", "1|1|a|FAILED|100|110|170|60" + gpu + "2|2|a|FAILED|100|110|170|60" + gpu + "1.batch|1.batch||FAILED|110|110|170|60" + gpu + "2.0|2.0||FAILED|110|110|170|60" + gpu,
			"1 FAILED 100 110 170 60, 2 FAILED 100 110 170 60", 2,
		},
		{
			"resized: two pieces of one run", "1|1|a|RESIZING|100|110|120|10" + gpu + "1|1|a|COMPLETED|100|120|180|60" + gpu,
			"1 COMPLETED 100 110 180 70", 1,
		},
		{
			"two dumps joined, with the header between", "1|1|a|COMPLETED|100|110|170|60" + gpu + sacctHeader + "2|2|a|COMPLETED|101|111|112|1" + gpu,
			"1 COMPLETED 100 110 170 60, 2 COMPLETED 101 111 112 1", 0,
		},
		{
			"suspended for a while", "1|1|a|COMPLETED|100|110|170|40" + gpu,
			"1 COMPLETED 100 110 170 40", 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			jobs, rep := readAll(t, []byte(sacctHeader+c.rows), Options{})
			var got []string
			for _, j := range jobs {
				got = append(got, fmt.Sprintf("%s %s %d %d %d %d", j.ID, j.State, j.Submit, j.Start, j.End, int64(j.Run)))
			}
			if strings.Join(got, ", ") != c.want || rep.Folded != c.folded {
				t.Errorf("got %q and %d folded, want %q and %d", strings.Join(got, ", "), rep.Folded, c.want, c.folded)
			}
		})
	}
}

// TestSacctFar: a second row that comes after the job has been given out is
// rejected, not given out twice.
func TestSacctFar(t *testing.T) {
	var b strings.Builder
	b.WriteString(sacctHeader)
	for i := range sacctHeld + 10 {
		fmt.Fprintf(&b, "%d|%d|a|COMPLETED|100|110|120|10|gres/gpu=1\n", i+1, i+1)
	}
	b.WriteString("1|1|a|COMPLETED|100|110|120|10|gres/gpu=1\n2.batch|2.batch||COMPLETED|100|110|120|10|\n")
	jobs, rep := readAll(t, []byte(b.String()), Options{})
	if len(jobs) != sacctHeld+10 || rep.Rejected != 1 || rep.Reasons[0].Reason != "duplicate job_id" || rep.Folded != 1 {
		t.Errorf("got %d jobs, %+v", len(jobs), rep)
	}
	for i, j := range jobs {
		if j.ID != fmt.Sprint(i+1) {
			t.Fatalf("job %d is %s: not in the order of the file", i, j.ID)
		}
	}
}

func TestSacctZones(t *testing.T) {
	loc := berlin(t)
	row := func(submit, start, end string, elapsed int) []byte {
		return fmt.Appendf(nil, "%s1|1|a|COMPLETED|%s|%s|%s|%d|gres/gpu=1\n", sacctHeader, submit, start, end, elapsed)
	}
	at := func(hour, minute int, summer bool) capcli.Time { // on 2025-10-26 in Berlin
		utc := time.Date(2025, 10, 26, hour-1, minute, 0, 0, time.UTC)
		if summer {
			utc = utc.Add(-time.Hour)
		}
		return capcli.TimeOf(utc)
	}
	for _, c := range []struct {
		name               string
		data               []byte
		later              bool
		submit, start, end capcli.Time
		assumed            int64
	}{
		{"first pass", row("2025-10-26T02:10:00", "2025-10-26T02:20:00", "2025-10-26T04:00:00", 9600), false, at(2, 10, true), at(2, 20, true), at(4, 0, false), 2},
		{"second pass", row("2025-10-26T02:10:00", "2025-10-26T02:20:00", "2025-10-26T04:00:00", 6000), true, at(2, 10, false), at(2, 20, false), at(4, 0, false), 2},
		{"start shows the other pass", row("2025-10-26T02:50:00", "2025-10-26T02:05:00", "2025-10-26T04:00:00", 6900), false, at(2, 50, true), at(2, 5, false), at(4, 0, false), 1},
		{"elapsed shows the other pass", row("2025-10-26T01:50:00", "2025-10-26T01:55:00", "2025-10-26T02:30:00", 5700), false, at(1, 50, true), at(1, 55, true), at(2, 30, false), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			jobs, rep := readAll(t, c.data, Options{TZ: loc, DSTLater: c.later})
			if len(jobs) != 1 {
				t.Fatalf("got %d jobs, %+v", len(jobs), rep)
			}
			if j := jobs[0]; j.Submit != c.submit || j.Start != c.start || j.End != c.end {
				t.Errorf("got %s, %s, %s; want %s, %s, %s", j.Submit, j.Start, j.End, c.submit, c.start, c.end)
			}
			var n int64
			for _, a := range rep.Assumed {
				if strings.HasPrefix(a.Reason, "time in a repeated hour, 2025-10-26: ") {
					n += a.N
				}
			}
			if n != c.assumed {
				t.Errorf("%d assumed, want %d: %+v", n, c.assumed, rep.Assumed)
			}
		})
	}
	_, err := drain(row("2025-03-30T01:00:00", "2025-03-30T02:30:00", "2025-03-30T04:00:00", 60), Options{TZ: loc})
	if err == nil || !strings.Contains(err.Error(), "time in an hour that did not exist, 2025-03-30") {
		t.Errorf("an hour that did not exist: %v", err)
	}
}

// TestSacctDemandsZone: the message says line, field, value and what to type.
func TestSacctDemandsZone(t *testing.T) {
	_, err := drain([]byte(sacctHeader+"1|1|a|COMPLETED|2024-11-01T00:03:11|2024-11-01T00:04:00|Unknown|5|gres/gpu=1\n"), Options{})
	var fault *capcli.InputError
	if !errors.As(err, &fault) {
		t.Fatal(err)
	}
	if fault.Line != 2 || fault.Field != "Submit" || !strings.Contains(fault.Text, "2024-11-01T00:03:11") ||
		!strings.Contains(fault.Hint, "capcli import sacct test --tz Europe/Berlin") || !strings.Contains(fault.Hint, "SLURM_TIME_FORMAT=%s sacct -a -P -D --starttime 2024-11-01") {
		t.Errorf("got %+v", fault)
	}
}

// TestSacctPipes: a row whose comment or name holds the separator is put
// together again; one that cannot be is rejected.
func TestSacctPipes(t *testing.T) {
	const head = "JobID|JobName|State|Submit|Start|End|ElapsedRaw|AllocTRES|Comment|SubmitLine\n"
	for _, c := range []struct{ row, state string }{
		{"1|a|b|COMPLETED|100|110|120|10|gres/gpu=1|c|s", "COMPLETED"},
		{"1|a||b|c|FAILED|100|110|120|10|gres/gpu=1||sbatch --wrap=x|y", "FAILED"},
		{"1|a|TIMEOUT|100|110|120|10|gres/gpu=1|c|x|y|z", "TIMEOUT"},
	} {
		jobs, rep := readAll(t, []byte(head+c.row+"\n"), Options{})
		if len(jobs) != 1 || jobs[0].State != c.state || jobs[0].Submit != 100 || jobs[0].GPUs != 1 {
			t.Errorf("%s: got %+v, %+v", c.row, jobs, rep)
		}
	}
	rep, err := drain([]byte("JobID|State|Submit|Start|End|ElapsedRaw|AllocTRES\n1|a|b|COMPLETED|100|110|120|10|gres/gpu=1\n"), Options{})
	if err == nil || rep.Reasons[0].Reason != "9 columns, the header has 7" {
		t.Errorf("got %v, %+v", err, rep.Reasons)
	}
}

func TestSacctClusters(t *testing.T) {
	jobs, _ := readAll(t, []byte("JobID|Cluster|Submit|Start|End|AllocTRES\n1|a|100|110|120|gres/gpu=1\n1|b|100|110|120|gres/gpu=1\n"), Options{})
	if len(jobs) != 2 || jobs[0].ID != "1" || jobs[1].ID != "b:1" {
		t.Errorf("got %+v", jobs)
	}
}

func TestSacctOldGRES(t *testing.T) {
	jobs, _ := readAll(t, []byte("JobID|State|Submit|Start|End|Elapsed|Timelimit|AllocGRES|NNodes|AllocCPUS|ReqMem\n"+
		"7|COMPLETED|100|110|120|00:00:10|1-00:00:00|gpu:2|3|12|4000Mn\n"), Options{})
	want := capcli.Job{
		ID: "7", State: "COMPLETED", GPUs: 6, CPUMilli: 12000, MemMiB: 12000, Submit: 100, Start: 110, End: 120,
		Run: 10, Limit: capcli.Day, Eligible: capcli.NoTime, Deadline: capcli.NoTime,
	}
	if len(jobs) != 1 || jobs[0] != want {
		t.Errorf("got %+v, want %+v", jobs, want)
	}
}
