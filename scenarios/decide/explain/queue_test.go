package explain_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/decide/explain"
	"capcli/scenarios/play"
)

// TestLastJobStartsAsBelieved: where every job lasts its limit and none comes later, a job starts
// when the policy believed it would, and loses or gains nothing to chance.
func TestLastJobStartsAsBelieved(t *testing.T) {
	const text = "capcli: scenario/v1\nname: queue\ncapacity:\n  - {name: base, kind: owned, gpus: 8, price: 1}\nplacement: count\n"
	for _, policy := range []string{"fifo", "easy", "easy-sjbf", "conservative", "sjf", "srtf"} {
		rng := capcli.Seed(3).Stream(policy)
		for n := range 20 {
			var log strings.Builder
			log.WriteString("job_id,submit,gpus,run_s,limit_s\n")
			at, last := 0, 2+rng.IntN(30)
			for i := range last + 1 {
				run := 10 + rng.IntN(600)
				fmt.Fprintf(&log, "j%d,%d,%d,%d,%d\n", i, at, 1+rng.IntN(8), run, run)
				at += 1 + rng.IntN(60)
			}
			s, err := scenarios.Parse("test.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			s.Policy.Name = policy
			open := func(string) (trace.Input, io.Closer, error) {
				return trace.Input{Name: "log.csv", R: strings.NewReader(log.String())}, io.NopCloser(nil), nil
			}
			c, err := play.NewCase(s, play.Options{Trace: "log.csv", Logs: &play.Logs{Open: open}})
			if err != nil {
				t.Fatal(err)
			}
			q, err := explain.LookAtJob(t.Context(), c, fmt.Sprintf("j%d", last), play.Request{})
			if err != nil {
				t.Fatal(err)
			}
			if q.Wait == nil || q.BelievedWait == nil || *q.Wait != *q.BelievedWait {
				t.Fatalf("%s, log %d: job %s waited %v, believed %v\n%s", policy, n, q.JobID, q.Wait, q.BelievedWait, log.String())
			}
			if (*q.Wait == 0) != (q.StartsNow >= q.GPUs) {
				t.Fatalf("%s, log %d: it waited %v, and %d GPUs of %d would have started at once\n%s", policy, n, *q.Wait, q.StartsNow, q.GPUs, log.String())
			}
			if strings.Join(q.Preempted, " ") != strings.Join(q.WouldPreempt, " ") {
				t.Fatalf("%s, log %d: it preempted %v, believed %v\n%s", policy, n, q.Preempted, q.WouldPreempt, log.String())
			}
		}
	}
}
