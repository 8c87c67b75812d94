package play_test

import (
	"io"
	"strings"
	"testing"

	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/play"
)

// TestOwnPastCountsJobsWithGPUs: of two jobs with GPUs that waited a second beside two without that
// waited for hours, the past of the first two is told, on the GPUs of the scenario.
func TestOwnPastCountsJobsWithGPUs(t *testing.T) {
	const plan = "capcli: scenario/v1\ncapacity: [{name: own, kind: owned, gpus: 4, gpu_model: A100, price: 2}]\n"
	const log = "job_id,user,submit_time,start_time,gpu_num,duration,gpu_type\n" +
		"g1,a,2027-01-04T00:00:00Z,2027-01-04T00:00:01Z,1,3600,A100\ng2,a,2027-01-04T05:00:00Z,2027-01-04T05:00:01Z,1,3600,A100\n" +
		"c1,b,2027-01-04T00:00:00Z,2027-01-04T09:00:00Z,0,600,\nc2,b,2027-01-04T00:10:00Z,2027-01-04T09:40:00Z,0,600,\n"
	s, err := scenarios.Parse("plan.yaml", []byte(plan))
	if err != nil {
		t.Fatal(err)
	}
	c, err := play.NewCase(s, play.Options{Trace: "log.csv", Logs: &play.Logs{Open: func(name string) (trace.Input, io.Closer, error) {
		return trace.Input{Name: name, R: strings.NewReader(log)}, io.NopCloser(nil), nil
	}}})
	if err != nil {
		t.Fatal(err)
	}
	past, err := c.OwnPast(t.Context())
	if err != nil || past == nil {
		t.Fatal(past, err)
	}
	if past.Replayed != 2 || past.Recorded.P95 != 1 || past.Unit != "GPUs" || past.Capacity != 4 || past.From != "scenario" {
		t.Errorf("the past is %+v", past)
	}
	if text := c.PastHeadline(past); !strings.Contains(text, "fifo on 4 GPUs, those of the scenario") || past.Misleads() {
		t.Error(text)
	}
	if text := c.PastHeadline(nil); !strings.Contains(text, "is not known") {
		t.Error(text)
	}
}
