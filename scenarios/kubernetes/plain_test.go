package kubernetes

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"capcli"
)

// TestPlainByHand: what the default scheduler and quotas make of a small cluster, worked out by hand. All requests are
// GPUs alone, so that equal nodes go by name.
//
// At 07:59 chat's two pods of 2 start on gpu-1, at 08:00 train's first of 4. The quota of 8 GPUs lets
// train create a second pod, which runs on gpu-2, and refuses the third. That is tried again after 10, 20, … 320, 360, 360 and
// 360 s, at last at 08:28:30. At 08:30 release wants 8: on gpu-2 one pod of priority 0 must go, on gpu-1 three:
// the sum of priorities is 0 on both, so that the fewest victims decide. train's second pod is lost after half an hour; its
// Job, in its back-off until 08:34:30, creates another then, and begins anew with 10 s for the third: 08:34:40, 35:00, 35:40,
// 37:00, 39:40, 45:00, 51:00, 57:00, 09:03:00. release ends at 08:40: probe, of priority 500, which
// preempts nobody, takes gpu-2 until 08:45, and then train's second pod runs until 09:45. train's first ends at 09:00, and its third
// comes in at 09:03. sneaky's quota lets in none.
func TestPlainByHand(t *testing.T) {
	c, err := readFile(t, "plain.yaml").Build(&Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Decide(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := s.WriteDecisions(&b, func(s string) string { return s }); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(b.String()) {
		f := strings.Split(strings.TrimSpace(line), ",")
		host := ""
		if _, rest, ok := strings.Cut(f[4], "@"); ok {
			host = " " + strings.TrimSuffix(rest, "=1")
		}
		got = append(got, strings.TrimSpace(f[0]+" "+f[2]+" "+f[3]+host+" "+f[5]))
	}
	want := []string{
		"t_s event workload by",
		"0 admit shop/deployment/chat-0 gpu-1", "0 admit shop/deployment/chat-1 gpu-1",
		"60 admit lab/job/train-0 gpu-1", "60 admit lab/job/train-1 gpu-2",
		"1860 preempt lab/job/train-1 shop/job/release-0", "1860 release lab/job/train-1", "1860 admit shop/job/release-0 gpu-2",
		"2460 finish shop/job/release-0", "2460 admit shop/pod/probe gpu-2",
		"2760 finish shop/pod/probe", "2760 admit lab/job/train-1 gpu-2",
		"3660 finish lab/job/train-0",
		"3840 admit lab/job/train-2 gpu-1",
		"6360 finish lab/job/train-1",
		"7440 finish lab/job/train-2",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	r := s.Result()
	rows := map[string]JobRow{}
	for _, j := range r.Jobs {
		rows[j.ID] = j
	}
	if j := rows["lab/train"]; j.State != "finished" || j.Most != 2 || j.Wanted != 3 || j.Preempted != 1 || j.Finished != 3 || *j.All != 3780 {
		t.Errorf("train is %+v", j)
	}
	if j := rows["shop/chat"]; j.State != "running" || *j.All != 0 {
		t.Errorf("chat is %+v", j)
	}
	if j := rows["lab/sneaky"]; j.State != "pending" || j.Refused != 1 || j.First != nil {
		t.Errorf("sneaky is %+v", j)
	}
	if len(r.Pending) != 1 || r.Pending[0].Why != "exceeded quota: no-urgent, requested: pods=1, limited: pods=0" {
		t.Errorf("pending %+v", r.Pending)
	}
	if r.Flavors[2].Resource != "nvidia.com/gpu" || r.Flavors[2].Nominal != 16 || r.Flavors[2].Most != 16 || r.Lost != 2*capcli.GPUTime(3600)*capcli.GPUSecond {
		t.Errorf("flavors %+v, lost %v", r.Flavors, r.Lost)
	}
	for _, n := range r.Namespaces {
		if n.Over != 0 || n.Most > n.Hard {
			t.Errorf("a quota was broken: %+v", n)
		}
	}
	if !strings.HasPrefix(r.Answer(), "Kubernetes without Kueue finishes 5 of 8 pods") {
		t.Error(r.Answer())
	}
}

func TestPlainRefuses(t *testing.T) {
	b, err := os.ReadFile("testdata/plain.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ old, now, want string }{
		{"kind: Node", "kind: NodeMetrics", "no Node that takes pods"},
		{"capcli/duration: 1h", "note: none", "nothing says how long the pods of lab/train last"},
		{"value: 1000\n", "value: 1000\npreemptionPolicy: Sometimes\n", "PreemptLowerPriority, Never"},
	} {
		o := NewObjects()
		err := o.Read("plain.yaml", []byte(strings.ReplaceAll(string(b), tt.old, tt.now)))
		if err == nil {
			_, err = o.Build(&Options{})
		}
		var in *capcli.InputError
		if !errors.As(err, &in) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.now, err, tt.want)
		}
	}
	// What creates no pods is named with its reason.
	o := NewObjects()
	text := strings.ReplaceAll(string(b), "priorityClassName: patient", "priorityClassName: unknown")
	text = strings.ReplaceAll(text, "replicas: 2\n  template: {spec: {", "replicas: 2\n  template: {spec: {schedulerName: other, ")
	if err := o.Read("plain.yaml", []byte(text)); err != nil {
		t.Fatal(err)
	}
	c, err := o.Build(&Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(c.Unqueued); !strings.Contains(got, "PriorityClass unknown is not given") || !strings.Contains(got, "scheduler other") {
		t.Error(got)
	}
}
