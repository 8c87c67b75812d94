package simulate_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
)

// placeLog notes the start and the end of each job, and where it started.
type placeLog struct{ lines []string }

func (p *placeLog) Observe(e simulate.Event, _ *simulate.Cluster) {
	switch e.Kind {
	case simulate.Start:
		var at []string
		for _, s := range e.Job.Slices() {
			at = append(at, fmt.Sprintf("%d:%d", s.Node, s.GPUs))
		}
		p.lines = append(p.lines, fmt.Sprintf("%d %s on %s", e.At, e.Job.ID, strings.Join(at, " ")))
	case simulate.Finish:
		p.lines = append(p.lines, fmt.Sprintf("%d %s ends", e.At, e.Job.ID))
	default:
	}
}

// runNear plays jobs on 8 nodes of 4 GPUs in racks of 2 and blocks of 4 nodes.
func runNear(t *testing.T, change func(*simulate.Pool), jobs ...capcli.Job) (*simulate.Result, []string) {
	t.Helper()
	p := simulate.Pool{Name: "own", Nodes: 8, GPUsPerNode: 4, Domains: []simulate.Domain{{Level: "block", Nodes: 4}, {Level: "rack", Nodes: 2}}}
	if change != nil {
		change(&p)
	}
	for i := range jobs {
		jobs[i].ID, jobs[i].Deadline = string(rune('a'+i)), capcli.NoTime
	}
	var log placeLog
	r, err := simulate.Run(context.Background(), simulate.Config{
		Pools: []simulate.Pool{p}, List: jobs, Policy: mustPolicy(t, "fifo"), Settings: simulate.Settings{Skip: true},
		Placement: mustPlacement(t, "consolidate"), Observers: []simulate.Observer{&log},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, log.lines
}

func shaped(name string, near capcli.Near) *capcli.Shape {
	return &capcli.Shape{Name: name, Near: near}
}

// TestNearByHand checks starts, ends and places worked out by hand.
func TestNearByHand(t *testing.T) {
	slow := []capcli.Slowdown{{Level: "node", Num: 1, Den: 1}, {Level: "rack", Num: 21, Den: 20}, {Level: "cluster", Num: 8, Den: 5}}
	rack := shaped("rack", capcli.Near{Mode: capcli.Required, Level: "rack", Slowdown: slow})
	prefer := shaped("prefer", capcli.Near{Mode: capcli.Preferred, Level: "rack", Slowdown: slow})
	apart := shaped("apart", capcli.Near{Apart: "rack"})
	web := shaped("web", capcli.Near{})
	beside := shaped("beside", capcli.Near{Beside: "web", Level: "rack"})
	for _, c := range []struct {
		name   string
		change func(*simulate.Pool)
		jobs   []capcli.Job
		want   []string
	}{
		// Two jobs leave 3 GPUs of a node in rack 0: the gang of 8 goes to the tightest whole rack, 5 % slower and rounded up.
		{"required", nil, []capcli.Job{{GPUs: 1, Run: 100}, {GPUs: 8, Run: 101, Shape: rack}}, []string{"0 a on 0:1", "0 b on 2:4 3:4", "100 a ends", "107 b ends"}},
		// With half of each rack held, a required gang waits; a preferred one takes the block, which the table leaves out: as the cluster.
		{"required waits", nil, []capcli.Job{{GPUs: 4, Run: 50, Shape: apart}, {GPUs: 4, Run: 60, Shape: apart}, {GPUs: 4, Run: 70, Shape: apart}, {GPUs: 4, Run: 80, Shape: apart}, {GPUs: 8, Run: 100, Shape: rack}}, []string{
			"0 a on 0:4", "0 b on 2:4", "0 c on 4:4", "0 d on 6:4", "50 a ends", "50 e on 0:4 1:4", "60 b ends", "70 c ends", "80 d ends", "155 e ends",
		}},
		{"preferred goes up", nil, []capcli.Job{{GPUs: 4, Run: 50, Shape: apart}, {GPUs: 4, Run: 60, Shape: apart}, {GPUs: 4, Run: 70, Shape: apart}, {GPUs: 4, Run: 80, Shape: apart}, {GPUs: 8, Run: 100, Shape: prefer}}, []string{
			"0 a on 0:4", "0 b on 2:4", "0 c on 4:4", "0 d on 6:4", "0 e on 1:4 3:4", "50 a ends", "60 b ends", "70 c ends", "80 d ends", "160 e ends",
		}},
		// The fifth that must be apart finds no rack without one of its kind.
		{"apart", nil, []capcli.Job{{GPUs: 1, Run: 10, Shape: apart}, {GPUs: 1, Run: 20, Shape: apart}, {GPUs: 1, Run: 30, Shape: apart}, {GPUs: 1, Run: 40, Shape: apart}, {GPUs: 1, Run: 50, Shape: apart}}, []string{
			"0 a on 0:1", "0 b on 2:1", "0 c on 4:1", "0 d on 6:1", "10 a ends", "10 e on 0:1", "20 b ends", "30 c ends", "40 d ends", "60 e ends",
		}},
		// Beside waits until a job of web runs, which comes later, and then starts in its rack.
		{"beside", nil, []capcli.Job{{GPUs: 4, Run: 10, Shape: beside}, {Submit: 5, GPUs: 4, Run: 10, Shape: web}}, []string{"5 b on 0:4", "5 a on 1:4", "15 b ends", "15 a ends"}},
		// Nobody knows how near counted GPUs are: a preferred gang is as slow there as over the cluster.
		{"counted", func(p *simulate.Pool) { p.Nodes, p.GPUsPerNode, p.Domains, p.Scattered = 1, 32, nil, true }, []capcli.Job{{GPUs: 8, Run: 100, Shape: prefer}}, []string{"0 a on 0:8", "160 a ends"}},
		// Two GPUs beside a job are tighter than an empty node, of a rack as of the cluster: that leaves the least.
		{"least left in a rack", nil, []capcli.Job{{GPUs: 4, Run: 10}, {GPUs: 2, Run: 100}, {GPUs: 2, Run: 10, Submit: 20, Shape: prefer}}, []string{
			"0 a on 0:4", "0 b on 1:2", "10 a ends", "20 c on 1:2", "30 c ends", "100 b ends",
		}},
		{"least left anywhere", nil, []capcli.Job{{GPUs: 4, Run: 10}, {GPUs: 2, Run: 100}, {GPUs: 2, Run: 10, Submit: 20, Shape: shaped("least", capcli.Near{Mode: capcli.Unconstrained})}}, []string{
			"0 a on 0:4", "0 b on 1:2", "10 a ends", "20 c on 1:2", "30 c ends", "100 b ends",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, got := runNear(t, c.change, c.jobs...)
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestNearFigures checks the spread, the cost of the slowdown, and the room in domains, by hand.
func TestNearFigures(t *testing.T) {
	slow := []capcli.Slowdown{{Level: "node", Num: 1, Den: 1}, {Level: "rack", Num: 5, Den: 4}}
	gang := shaped("gang", capcli.Near{Mode: capcli.Required, Level: "rack", Slowdown: slow})
	r, log := runNear(t, nil, capcli.Job{GPUs: 8, Run: 80, Shape: gang}, capcli.Job{GPUs: 12, Run: 10, Shape: gang})
	if r.Jobs.Unplaceable != 1 || !strings.Contains(r.Refused[0].Why, "12 GPUs within one rack") {
		t.Errorf("a gang of 12 fits no rack of 8: %+v", r.Refused)
	}
	// 8 GPUs for 100 s, of which a fifth is the slowdown.
	row := r.Near[0].Rows
	if i := slices.IndexFunc(row, func(s simulate.Spread) bool { return s.Level == "rack" }); i < 0 || row[i].Stays != 1 || row[i].Held != 800*capcli.GPUSecond || row[i].Lost != 160*capcli.GPUSecond {
		t.Errorf("spread %+v after %q", row, log)
	}
	// Three of four racks are free for the whole run. Half of the gangs want more than the 8 GPUs of one: 12 stranded.
	rooms := r.Rooms[1]
	if rooms.Level != "rack" || rooms.Largest != 8 || rooms.Free != 24 || rooms.Gangs != 2 || rooms.Stranded != 12 || rooms.RoomShare(8) != 1 || rooms.RoomShare(9) != 0 || rooms.GangSize(0.95) != 8 {
		t.Errorf("the room in racks is %+v", rooms)
	}
}
