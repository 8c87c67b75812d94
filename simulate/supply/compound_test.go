package supply_test

import (
	"fmt"
	"math"
	"testing"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/supply"
)

// shares follows a supply and returns the share of time in which at least needed of the nodes are
// up, and the mean of the nodes that are up.
func shares(s simulate.Supply, nodes, needed int, until capcli.Seconds) (enough, mean float64) {
	up := nodes
	at := capcli.Seconds(0)
	count := func(to capcli.Seconds) {
		dt := float64(min(to, until) - at)
		if up >= needed {
			enough += dt / float64(until)
		}
		mean += float64(up) * dt / float64(until)
		at = min(to, until)
	}
	for at < until {
		c, ok := s.Next()
		if !ok {
			break
		}
		count(c.At)
		if c.GPU > 0 {
			continue
		}
		if c.Kind == simulate.Lose {
			up--
		} else {
			up++
		}
	}
	count(until)
	return enough, mean
}

// TestFailuresAsTheory: nodes, crews, racks and GPUs are up as often as theory says, within three
// standard errors of 60 histories of 2,000 times between failures.
func TestFailuresAsTheory(t *testing.T) {
	const runs = 60
	node := supply.Part{MTBF: 10_000, Repair: 2_500}
	rack := supply.Part{MTBF: 30_000, Repair: 5_000}
	repair := func(crews int) (float64, float64) {
		r := Repair{Nodes: 6, Needed: 5, MeanUp: 10_000, MeanDown: 2_500, Crews: crews}.Availability()
		return r.Enough, r.MeanUp
	}
	racks := func(perRack int) (float64, float64) {
		r := Racks{
			Racks: 3, NodesPerRack: perRack, NodeMeanUp: 10_000, NodeMeanDown: 2_500, RackMeanUp: 30_000, RackMeanDown: 5_000,
			Needed: 3*perRack - 2, GangNodes: 1, GangRacks: 1,
		}.Availability()
		return r.Enough, r.MeanUp
	}
	gpus := func() (float64, float64) { // a node with four GPUs of availability a serves in a^4 of its time
		a := math.Pow(40.0/41, 4) * 0.8
		return a * a, 2 * a
	}
	for _, c := range []struct {
		name   string
		f      supply.Failures
		needed int
		theory func() (float64, float64)
	}{
		{"all repaired at once", supply.Failures{Nodes: 6, Node: node}, 5, func() (float64, float64) { return repair(0) }},
		{"one crew", supply.Failures{Nodes: 6, Node: node, Crews: 1}, 5, func() (float64, float64) { return repair(1) }},
		{"two crews", supply.Failures{Nodes: 6, Node: node, Crews: 2}, 5, func() (float64, float64) { return repair(2) }},
		{"racks", supply.Failures{Nodes: 12, Node: node, Rack: rack, RackNodes: 4}, 10, func() (float64, float64) { return racks(4) }},
		{"GPUs that take their node", supply.Failures{Nodes: 2, GPUsPerNode: 4, Node: node, GPU: supply.Part{MTBF: 40_000, Repair: 1_000}, GPUTakesNode: true}, 2, gpus},
	} {
		var enough, mean [runs]float64
		for k := range runs {
			s := supply.NewFailures(c.f, capcli.Seed(3).Stream(fmt.Sprint(c.name, k)))
			enough[k], mean[k] = shares(s, c.f.Nodes, c.needed, 20_000_000)
		}
		wantEnough, wantMean := c.theory()
		for _, x := range []struct {
			name string
			got  []float64
			want float64
		}{{"enough", enough[:], wantEnough}, {"up", mean[:], wantMean}} {
			m, se := 0.0, 0.0
			for _, v := range x.got {
				m += v / runs
			}
			for _, v := range x.got {
				se += (v - m) * (v - m)
			}
			if se = math.Sqrt(se / (runs - 1) / runs); math.Abs(m-x.want) > 3*se {
				t.Errorf("%s, %s: %.6f, standard error %.6f; theory says %.6f", c.name, x.name, m, se, x.want)
			}
		}
	}
}

// TestFailuresAlternate: each node is lost and comes back in turn, in order of time, whatever takes it.
func TestFailuresAlternate(t *testing.T) {
	p := supply.Part{MTBF: 500, Repair: 300}
	s := supply.NewFailures(supply.Failures{Nodes: 10, GPUsPerNode: 2, Node: p, Rack: p, GPU: p, RackNodes: 4, GPUTakesNode: true, Crews: 3}, capcli.Seed(1).Stream("x"))
	down := map[int]bool{}
	last := capcli.Seconds(0)
	for range 5000 {
		c, ok := s.Next()
		if !ok || c.At < last || c.Node < 0 || c.Node >= 10 || down[c.Node] == (c.Kind == simulate.Lose) {
			t.Fatalf("%+v after %d, ok %v, down %v", c, last, ok, down[c.Node])
		}
		down[c.Node], last = c.Kind == simulate.Lose, c.At
	}
}
