package eta

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"capcli"
	"capcli/profile/logs/trace"
)

// texts opens the files of a test.
type texts map[string]string

func (f texts) open(name string) (trace.Input, io.Closer, error) {
	return trace.Input{Name: name, R: strings.NewReader(f[name])}, io.NopCloser(nil), nil
}

// answerFrom answers a question from files.
func answerFrom(t *testing.T, f texts, q Request) *Answer {
	t.Helper()
	h, err := q.Read(t.Context(), f.open, q.Input, trace.Options{TZ: time.UTC}, func(int64, int64) {})
	if err != nil {
		t.Fatal(err)
	}
	a, err := h.Answer(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// cutLog writes the log of jobs up to a moment as CSV, and what squeue and sinfo print at that moment: the jobs that
// wait and run are in the listing alone, with three more that are held.
func cutLog(jobs []Job, at capcli.Time) texts {
	whole, ended := new(strings.Builder), new(strings.Builder)
	queue := new(strings.Builder)
	const head = "job_id,tenant,gpus,submit,start,end,limit_s\n"
	whole.WriteString(head)
	ended.WriteString(head)
	queue.WriteString("JOBID|STATE|ACCOUNT|SUBMIT_TIME|START_TIME|TIME_LIMIT|TIME|NODES|TRES_PER_NODE|REASON\n")
	list := func(id, state, tenant string, submit capcli.Time, start string, limit capcli.Seconds, used capcli.Time, units int64, reason string) {
		most := fmt.Sprintf("0:%02d:%02d", limit/60, limit%60)
		if limit == 0 {
			most = "UNLIMITED"
		}
		fmt.Fprintf(queue, "%s|%s|%s|%d|%s|%s|0:%02d:%02d|1|gres/gpu:%d|%s\n", id, state, tenant, submit, start, most, used/60, used%60, units, reason)
	}
	for i, j := range jobs {
		if i%9 == 0 {
			j.Limit = 0
		}
		row := fmt.Sprintf("%s,%s,%d,%d,%d,%d,%d\n", j.ID, j.Tenant, j.Units, j.Queued, j.Start, j.End, j.Limit)
		whole.WriteString(row)
		switch {
		case j.Queued > at:
		case j.End <= at:
			ended.WriteString(row)
		case j.Start <= at:
			list(j.ID, "RUNNING", j.Tenant, j.Queued, fmt.Sprint(j.Start), j.Limit, at-j.Start, j.Units, "None")
		default:
			list(j.ID, "PENDING", j.Tenant, j.Queued, "N/A", j.Limit, 0, j.Units, "Priority")
		}
	}
	list("9001", "PENDING", "a", at-9, "N/A", 60, 0, 4, "JobHeldUser")
	list("9002_[1-2]", "PENDING", "a", at-9, "N/A", 60, 0, 1, "QOSMaxGRESPerUser")
	return texts{
		"whole": whole.String(), "ended": ended.String(), "queue": queue.String(),
		"nodes": "NODELIST CPUS MEMORY GRES STATE\nn1 8 1000 gpu:4 mix\nn2 8 1000 gpu:4 idle\nn3 8 1000 gpu:4 drain\n",
	}
}

// TestQueueOfNow asks at moments of a log that is known to its end, and from the log up to the moment with the listing
// of squeue: both must answer alike, and jobs that are held must not stand in the line.
func TestQueueOfNow(t *testing.T) {
	jobs := NewLog(queueLog(400), 8).Jobs
	waited := 0
	for k := 110; k < len(jobs); k += 23 {
		at := jobs[k].Queued
		f := cutLog(jobs, at)
		q := Request{Input: "whole", Seed: 1, At: at, GPUs: 3, Limit: capcli.Hour, Tenant: "b", Capacity: 8}
		want := answerFrom(t, f, q)
		q.Input, q.Now, q.Capacity, q.At = "ended", []string{"queue", "nodes"}, 0, capcli.NoTime
		if want.RunningJobs == 0 {
			q.At = at // no running job tells it
		}
		got := answerFrom(t, f, q)
		held := []Held{{"QOSMaxGRESPerUser", 2, 2}, {"JobHeldUser", 1, 4}}
		if !reflect.DeepEqual(got.Held, held) {
			t.Errorf("at %s: held are %v, want %v", at, got.Held, held)
		}
		if got.CapacityIs != "the nodes that take jobs now" || got.Capacity != 8 {
			t.Errorf("at %s: a capacity of %g, %s", at, got.Capacity, got.CapacityIs)
		}
		if want.Position > 1 {
			waited++
		}
		got.Held, got.Notes, got.Source, got.CapacityIs = want.Held, want.Notes, want.Source, want.CapacityIs
		if !reflect.DeepEqual(got, want) {
			t.Errorf("at %s, job %d:\n%+v from the listing\n%+v from the log", at, k, got, want)
		}
	}
	if waited < 3 {
		t.Errorf("jobs waited at %d moments, want more", waited)
	}
}
