package simulate_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate"
	"capcli/simulate/placement"
	"capcli/simulate/policy"
)

// settingWorlds is how many drawn worlds a setting has to change one of.
const settingWorlds = 2000

// drawSettingWorld draws a world in which settings may matter: jobs have several ways, or wait for each other, or crowd
// two small pools.
func drawSettingWorld(seed int) world {
	return rapid.Custom(func(t *rapid.T) world {
		w := drawWorld(t)
		switch seed % 3 {
		case 0:
			drawShapes(t, &w)
			return w
		case 1:
			drawCrowd(t, &w)
			return w
		}
		drawStages(t, w.jobs)
		stages, err := simulate.NewStages(w.jobs)
		if err != nil {
			t.Fatal(err)
		}
		change := w.change
		w.change = func(c *simulate.Config) {
			if change != nil {
				change(c)
			}
			c.Jobs, c.Stages = nil, stages
		}
		return w
	}).Example(seed)
}

// drawCrowd has the jobs of a world share two pools of GPUs that are not equally fast for all of them.
func drawCrowd(t *rapid.T, w *world) {
	w.pools, w.supply = []simulate.Pool{
		{Name: "a", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 8, GPUModel: "A"}, {Name: "b", Terms: simulate.Owned, Nodes: 1, GPUsPerNode: 8, GPUModel: "B"},
	}, nil
	urgent := rapid.SampledFrom([][]int{{0, 0, 0, 1}, {0, 1, 2, 3}}).Draw(t, "priorities")
	for i := range w.jobs {
		j := &w.jobs[i]
		j.Partition, j.GPUModel, j.GPUMilli, j.CPUMilli, j.MemMiB = "", "A|B", 0, 0, 0
		j.GPUs, j.Run, j.Priority = rapid.IntRange(1, 5).Draw(t, "size"), j.Run+20, rapid.SampledFrom(urgent).Draw(t, "urgent")
		j.Limit = j.Run + capcli.Seconds(rapid.IntRange(0, 30).Draw(t, "limit"))
		slow := int64(rapid.IntRange(1, 40).Draw(t, "ten times the time on B"))
		j.Shape = &capcli.Shape{Name: j.ID, Ways: []capcli.Way{{Model: "A", GPUs: j.GPUs, Num: 1, Den: 1}, {Model: "B", GPUs: j.GPUs, Num: slow, Den: 10}}}
	}
}

// changed reports whether a policy does something else in a world by the settings that set changes.
func changed(t *testing.T, w world, pol simulate.NewPolicy, others map[string]string, set func(*simulate.Settings)) bool {
	t.Helper()
	place, err := placement.Catalog.Get("consolidate")
	if err != nil {
		t.Fatal(err)
	}
	// What the world draws of these is of no matter here.
	w.set.Own, w.set.Choices = map[string]capcli.Seconds{}, maps.Clone(others)
	change := w.change
	w.change = func(c *simulate.Config) {
		if change != nil {
			change(c)
		}
		c.Until = 3000 // llf, which takes GPUs from jobs that then begin anew, may never end
	}
	_, before := w.play(t, pol, place(), w.jobs)
	set(&w.set)
	_, after := w.play(t, pol, place(), w.jobs)
	return before.log.String() != after.log.String()
}

// TestEachSettingOfAPolicyChangesSomeWorld finds, for each setting that policies declare, for each policy that its
// text names before the colon, and for each word that it may be, a world in which the policy then does something else.
func TestEachSettingOfAPolicyChangesSomeWorld(t *testing.T) {
	type trial struct {
		name, doc string
		sets      []func(*simulate.Settings) // any of these has to change a world
	}
	var trials []trial
	for _, e := range policy.OwnSettings.All() {
		s := trial{name: e.Name, doc: e.Doc}
		for _, v := range []capcli.Seconds{1, 7, 40, 400} {
			s.sets = append(s.sets, func(set *simulate.Settings) { set.Own[e.Name] = max(v, e.Value) })
		}
		trials = append(trials, s)
	}
	for _, e := range policy.OwnChoices.All() {
		for _, word := range e.Value[1:] {
			trials = append(trials, trial{e.Name + "=" + word, e.Doc, []func(*simulate.Settings){func(set *simulate.Settings) { set.Choices[e.Name] = word }}})
		}
	}
	worlds := map[int]world{}
	for _, s := range trials {
		names, _, found := strings.Cut(s.doc, ":")
		if !found {
			t.Errorf("%s: its text names no policy before a colon: %s", s.name, s.doc)
		}
		for name := range strings.SplitSeq(names, ", ") {
			t.Run(fmt.Sprintf("%s/%s", s.name, name), func(t *testing.T) {
				pol, err := policy.Catalog.Get(name)
				if err != nil {
					t.Fatal(err)
				}
				choice, _, _ := strings.Cut(s.name, "=")
				for seed := range settingWorlds {
					w, drawn := worlds[seed]
					if !drawn {
						w = drawSettingWorld(seed)
						worlds[seed] = w
					}
					others := map[string]string{} // a setting may matter with another word of another one alone
					for _, e := range policy.OwnChoices.All() {
						others[e.Name] = e.Value[seed/3%len(e.Value)]
					}
					delete(others, choice)
					if slices.ContainsFunc(s.sets, func(set func(*simulate.Settings)) bool { return changed(t, w, pol, others, set) }) {
						return
					}
				}
				t.Errorf("in none of %d worlds it changes what %s does", settingWorlds, name)
			})
		}
	}
}
