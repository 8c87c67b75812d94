package simulate_test

import (
	"context"
	"testing"

	"capcli"
	"capcli/simulate"
)

// A job of a class that never preempts goes before others that wait, and takes nothing away; one of
// another class takes it at once. Jobs are matched by tenant, partition and class of work.
func TestPriorityClasses(t *testing.T) {
	jobs := []capcli.Job{
		{ID: "low", GPUs: 8, Run: 100, Tenant: "lab/ana", Priority: 99},
		{ID: "wait", Submit: 5, GPUs: 8, Run: 10, Tenant: "web"},
		{ID: "polite", Submit: 10, GPUs: 8, Run: 10, Class: "service"},
		{ID: "prod", Submit: 20, GPUs: 8, Run: 10, Partition: "prod"},
	}
	first := firstStarts{}
	_, err := simulate.Run(context.Background(), simulate.Config{
		List: jobs, Start: 0, Policy: mustPolicy(t, "priority-preempt"), Placement: mustPlacement(t, "count"),
		Pools:     []simulate.Pool{{Name: "p", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 8}},
		Observers: []simulate.Observer{first},
		Priorities: []simulate.PriorityClass{
			{Name: "prod", Value: 1000, Partitions: []string{"prod"}},
			{Name: "polite", Value: 100, NeverPreempts: true, Classes: []string{"service"}},
			{Name: "low", Value: 1, Tenants: []string{"lab"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]capcli.Seconds{"low": 0, "prod": 20, "polite": 30, "wait": 120} {
		if first[id] != want {
			t.Errorf("%s started at %d, want %d", id, first[id], want)
		}
	}
}
