package trace_test

import (
	"fmt"
	"strings"

	"capcli/profile/logs/trace"
)

// A log is read as a stream; what became of each row is known at its end.
func ExampleOpen() {
	log := strings.NewReader("job_id,submit,gpus,run_s\n" +
		"a,1704067200,8,3600\n" +
		"b,1704067260,0.5,60\n" +
		"c,1704067320,-1,60\n")
	r, err := trace.Open(trace.Input{Name: "jobs.csv", R: log}, trace.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for job, err := range r.Jobs() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(job.ID, job.Submit, job.Work().Hours())
	}
	rep := r.Report()
	fmt.Println(rep.Format, rep.Kept, rep.Rejected, rep.Reasons[0].Reason)
	// Output:
	// a 2024-01-01T00:00:00Z 8
	// b 2024-01-01T00:01:00Z 0.008333333333333333
	// csv 2 1 gpus: negative
}
