package pods_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/kubernetes/kueue"
	"capcli/scenarios/kubernetes/pods"
)

const gpu = "nvidia.com/gpu"

// host is a node with so many GPUs.
func host(name string, gpus int64) kueue.Node {
	return kueue.Node{Labels: map[string]string{"kubernetes.io/hostname": name}, Capacity: map[string]int64{gpu: gpus}}
}

// job is a Job of the namespace a whose pods want so many GPUs each.
func job(id string, arrival, duration capcli.Seconds, gpus, parallelism, completions int64) pods.Owner {
	return pods.Owner{
		ID: id, Namespace: "a", Kind: pods.Job, Arrival: arrival, Duration: duration, Parallelism: parallelism, Completions: completions, Failures: 6,
		Pod: kueue.PodSet{Name: "main", Count: 1, Requests: map[string]int64{gpu: gpus}},
	}
}

func prior(o pods.Owner, priority int64) pods.Owner {
	o.Priority = priority
	return o
}

// play runs a world and tells each stay of each pod: owner/pod@node from-to, with ! where it was preempted and + where it
// goes on.
func play(t *testing.T, w *pods.World) (string, *pods.Result) {
	t.Helper()
	r, err := pods.Run(context.Background(), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	return stays(w, r), r
}

func stays(w *pods.World, r *pods.Result) string {
	var out []string
	for i := range r.Owners {
		for k, p := range r.Owners[i].Pods {
			for _, s := range p.Starts {
				text := fmt.Sprintf("%s/%d@%s %d-%d", w.Owners[i].ID, k, w.Nodes[s.Node].Labels["kubernetes.io/hostname"], s.From, s.To)
				switch s.Ended {
				case pods.Preempted:
					text += "!"
				case pods.Goes:
					text = strings.TrimSuffix(text, "--1") + "+"
				case pods.Killed:
					text += "x"
				case pods.Succeeded:
				}
				out = append(out, text)
			}
		}
	}
	return strings.Join(out, ", ")
}

// TestByHand: small worlds worked out by hand from the documented rules.
func TestByHand(t *testing.T) {
	low, high := int64(0), int64(100)
	never := prior(job("never", 10, 50, 4, 1, 1), high)
	never.Never = true
	service := pods.Owner{ID: "web", Namespace: "a", Kind: pods.Deployment, Parallelism: 2, Pod: kueue.PodSet{Requests: map[string]int64{gpu: 2}}}
	single := job("one", 0, 100, 4, 1, 1)
	single.Kind = pods.Pod
	small := kueue.Node{Labels: map[string]string{"kubernetes.io/hostname": "tainted"}, Capacity: map[string]int64{gpu: 8}, Taints: []kueue.Taint{{Key: "old", Effect: "NoSchedule"}}}
	impatient := job("a", 0, 100, 4, 1, 1)
	impatient.Failures = 0
	for _, c := range []struct {
		name  string
		world pods.World
		want  string
	}{
		{"no gang: two of three pods run, the third when one ends", pods.World{
			Nodes: []kueue.Node{host("n1", 8)}, Owners: []pods.Owner{job("a", 0, 100, 4, 3, 3)},
		}, "a/0@n1 0-100, a/1@n1 0-100, a/2@n1 100-200"},
		{"parallelism holds pods back, completions end the job", pods.World{
			Nodes: []kueue.Node{host("n1", 8)}, Owners: []pods.Owner{job("a", 5, 10, 1, 2, 3)},
		}, "a/0@n1 5-15, a/1@n1 5-15, a/2@n1 15-25"},
		{"priority goes first, and one that does not fit holds nobody up", pods.World{
			Nodes:  []kueue.Node{host("n1", 4)},
			Owners: []pods.Owner{job("first", 0, 100, 3, 1, 1), prior(job("huge", 1, 9, 8, 1, 1), high), job("late", 2, 10, 1, 1, 1)},
		}, "first/0@n1 0-100, late/0@n1 2-12"},
		{"at one instant the higher priority starts", pods.World{
			Nodes: []kueue.Node{host("n1", 4)}, Owners: []pods.Owner{job("a", 0, 10, 4, 1, 1), prior(job("b", 0, 10, 4, 1, 1), 1)},
		}, "a/0@n1 10-20, b/0@n1 0-10"},
		{"a victim starts again after ten seconds at the earliest, from its beginning", pods.World{
			Nodes: []kueue.Node{host("n1", 4)}, Owners: []pods.Owner{job("a", 0, 100, 4, 1, 1), prior(job("b", 30, 5, 4, 1, 1), high)},
		}, "a/0@n1 0-30!, a/0@n1 40-140, b/0@n1 30-35"},
		{"preemptionPolicy Never waits at the head", pods.World{
			Nodes: []kueue.Node{host("n1", 4)}, Owners: []pods.Owner{job("a", 0, 100, 4, 2, 2), never},
		}, "a/0@n1 0-100, a/1@n1 150-250, never/0@n1 100-150"},
		{"the victim of the lowest priority, though the other started last", pods.World{
			Nodes:  []kueue.Node{host("n1", 4), host("n2", 4)},
			Owners: []pods.Owner{prior(job("a", 0, 100, 4, 1, 1), low), prior(job("b", 1, 100, 4, 1, 1), 5), prior(job("c", 20, 10, 4, 1, 1), high)},
		}, "a/0@n1 0-20!, a/0@n1 30-130, b/0@n2 1-101, c/0@n1 20-30"},
		{"the least sum of priorities", pods.World{
			Nodes: []kueue.Node{host("n1", 4), host("n2", 4)},
			Owners: []pods.Owner{
				prior(job("a", 0, 100, 2, 2, 2), 5), prior(job("b", 0, 100, 2, 1, 1), 5), prior(job("c", 0, 100, 2, 1, 1), 1), prior(job("d", 20, 10, 4, 1, 1), high),
			},
		}, "a/0@n1 0-100, a/1@n1 0-100, b/0@n2 0-20!, b/0@n2 30-130, c/0@n2 0-20!, c/0@n2 30-130, d/0@n2 20-30"},
		{"of equal tolls the one that started last", pods.World{
			Nodes:  []kueue.Node{host("n1", 4), host("n2", 4)},
			Owners: []pods.Owner{job("a", 0, 100, 4, 1, 1), job("b", 7, 100, 4, 1, 1), prior(job("c", 20, 10, 4, 1, 1), high)},
		}, "a/0@n1 0-100, b/0@n2 7-20!, b/0@n2 30-130, c/0@n2 20-30"},
		{"as few victims as need be: the one that runs for longer stays", pods.World{
			Nodes:  []kueue.Node{host("n1", 4)},
			Owners: []pods.Owner{job("a", 0, 100, 2, 1, 1), job("b", 7, 100, 2, 1, 1), prior(job("c", 20, 10, 2, 1, 1), high)},
		}, "a/0@n1 0-100, b/0@n1 7-20!, b/0@n1 30-130, c/0@n1 20-30"},
		{"a quota refuses a pod, and its Job tries again after 10, 20 and 40 s", pods.World{
			Nodes: []kueue.Node{host("n1", 8)}, Quotas: []pods.Quota{{Namespace: "a", Name: "q", Hard: map[string]int64{gpu: 4}}},
			Owners: []pods.Owner{job("a", 0, 45, 4, 1, 1), job("b", 0, 9, 4, 1, 1)},
		}, "a/0@n1 0-45, b/0@n1 70-79"},
		{"a quota counts pods that wait for a node", pods.World{
			Nodes: []kueue.Node{host("n1", 4)}, Quotas: []pods.Quota{{Namespace: "a", Name: "q", Hard: map[string]int64{pods.PodCount: 2}}},
			Owners: []pods.Owner{job("a", 0, 15, 4, 2, 2), job("b", 0, 5, 4, 1, 1)},
		}, "a/0@n1 0-15, a/1@n1 15-30, b/0@n1 30-35"},
		{"a quota of a PriorityClass is for its pods alone", pods.World{
			Nodes: []kueue.Node{host("n1", 8)},
			Quotas: []pods.Quota{{
				Namespace: "a", Name: "q", Hard: map[string]int64{gpu: 0},
				Scope: []kueue.Requirement{{Key: pods.ClassKey, Op: "In", Values: []string{"gold"}}},
			}},
			Owners: []pods.Owner{job("a", 0, 15, 4, 1, 1), func() pods.Owner { o := job("b", 0, 15, 4, 1, 1); o.Class = "gold"; return o }()},
		}, "a/0@n1 0-15"},
		{"a Deployment's pod comes again at once, and waits", pods.World{
			Nodes: []kueue.Node{host("n1", 4)}, Owners: []pods.Owner{service, prior(job("a", 10, 20, 2, 1, 1), high)},
		}, "web/0@n1 0+, web/1@n1 0-10!, web/1@n1 30+, a/0@n1 10-30"},
		{"a single pod is lost", pods.World{
			Nodes: []kueue.Node{host("n1", 4)}, Owners: []pods.Owner{single, prior(job("a", 10, 20, 2, 1, 1), high)},
		}, "one/0@n1 0-10!, a/0@n1 10-30"},
		{"backoffLimit 0: the first preemption fails the Job", pods.World{
			Nodes: []kueue.Node{host("n1", 4)}, Owners: []pods.Owner{impatient, prior(job("b", 10, 20, 2, 1, 1), high)},
		}, "a/0@n1 0-10!, b/0@n1 10-30"},
		{"time to go: the node is reserved meanwhile against equals and lower", pods.World{
			Nodes: []kueue.Node{host("n1", 4), host("n2", 2)}, EvictTime: 30,
			Owners: []pods.Owner{job("a", 0, 100, 4, 1, 1), prior(job("b", 10, 20, 4, 1, 1), high), job("c", 15, 5, 4, 1, 1)},
		}, "a/0@n1 0-40!, a/0@n1 65-165, b/0@n1 40-60, c/0@n1 60-65"},
		{"what ends within its grace has succeeded", pods.World{
			Nodes: []kueue.Node{host("n1", 4)}, EvictTime: 30,
			Owners: []pods.Owner{job("a", 0, 30, 4, 1, 1), prior(job("b", 10, 20, 4, 1, 1), high)},
		}, "a/0@n1 0-30, b/0@n1 30-50"},
		{"taints keep pods away", pods.World{
			Nodes: []kueue.Node{small, host("n1", 1)}, Owners: []pods.Owner{job("a", 0, 30, 4, 1, 1), job("b", 0, 30, 1, 1, 1)},
		}, "b/0@n1 0-30"},
	} {
		if got, _ := play(t, &c.world); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestFigures: what a Job tells of itself where it runs with fewer pods than it wants.
func TestFigures(t *testing.T) {
	w := &pods.World{Nodes: []kueue.Node{host("n1", 8)}, Owners: []pods.Owner{
		job("1st", 0, 50, 4, 1, 1), job("a", 0, 100, 4, 2, 4), job("never", 0, 5, 9, 1, 1),
	}}
	got, r := play(t, w)
	if want := "1st/0@n1 0-50, a/0@n1 0-100, a/1@n1 50-150, a/2@n1 100-200, a/3@n1 150-250"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	a := r.Owners[1]
	if a.Most != 2 || a.All != 50 || a.Ended != 250 || a.Partial != 50 || a.Pods[2].Wanted != 100 {
		t.Errorf("%+v", a)
	}
	if p := r.Owners[2].Pods[0]; !p.Never || !strings.Contains(p.Why, "0 of 1 nodes are large enough for a pod of it (nvidia.com/gpu=9)") {
		t.Errorf("%+v", p)
	}
}

// TestRefusals: a quota that can never let a pod in is not tried again, and says why.
func TestRefusals(t *testing.T) {
	w := &pods.World{
		Nodes:  []kueue.Node{host("n1", 8)},
		Quotas: []pods.Quota{{Namespace: "a", Name: "q", Hard: map[string]int64{gpu: 2, "cpu": 1000}}},
		Owners: []pods.Owner{job("a", 0, 5, 1, 1, 1), job("b", 0, 5, 4, 1, 1)},
	}
	w.Owners[1].Pod.Requests["cpu"] = 1
	got, r := play(t, w)
	if got != "" || r.Owners[0].Refused != 1 || r.Owners[1].Refused != 1 {
		t.Errorf("%s, refused %d and %d times", got, r.Owners[0].Refused, r.Owners[1].Refused)
	}
	if p := r.Owners[0].Pods[0]; !p.Never || p.Why != "failed quota: q: its pods must specify cpu" {
		t.Errorf("%+v", p)
	}
	if p := r.Owners[1].Pods[0]; !p.Never || p.Why != "exceeded quota: q, requested: nvidia.com/gpu=4, limited: nvidia.com/gpu=2" {
		t.Errorf("%+v", p)
	}
}
