package mix

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios"
)

// ModelMix is the cheapest mix, by the rules of the best, whose committed GPUs are all of one model.
type ModelMix struct {
	Model   string     `json:"gpu_model"`
	GPUs    int64      `json:"committed_gpus"`
	Mix     int        `json:"mix"`
	Choices []Choice   `json:"choices"`
	Best    bool       `json:"best"` // it is the plan
	Holds   bool       `json:"holds_limits"`
	Cost    capcli.USD `json:"cost_usd"`
	More    capcli.USD `json:"more_than_plan_usd"`
	Ends    *float64   `json:"jct_mean_s"` // mean time from submission to end
	Later   *float64   `json:"later_than_plan_s"`
	Tried   int        `json:"mixes_tried"`
}

// modelSizes is the most sizes of each axis that are tried for a model.
const modelSizes = 33

// byModel returns, for each GPU model of which committed GPUs are a choice of the plan, the cheapest mix with no
// other committed GPUs. It is empty where jobs have no ways on several models, or there is one model to choose.
func (s *study) byModel(ctx context.Context) ([]ModelMix, error) {
	jobs, err := s.problem.Jobs(0)
	if err != nil || !slices.ContainsFunc(jobs, func(j capcli.Job) bool { return waysModels(&j) > 1 }) {
		return nil, err
	}
	axes := s.sizeAxes()
	var models []string
	of := map[int]string{}
	for _, a := range axes {
		m := poolModel(s.req.Case.Scenario, s.problem.Space.Axes[a].Path)
		if of[a] = m; m != "" && !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	var out []ModelMix
	if len(models) < 2 {
		return nil, nil
	}
	for _, m := range models {
		candidates, err := s.modelCandidates(axes, of, m)
		if err != nil {
			return nil, err
		}
		entries, err := s.Search.runAll(ctx, s.problem, candidates)
		if err != nil {
			return nil, err
		}
		entries = slices.DeleteFunc(entries, func(e *Entry) bool { return e.fault() != "" })
		if len(entries) == 0 {
			continue
		}
		best := slices.MinFunc(entries, func(a, b *Entry) int { return compareSized(a, b, s.Search.Hold) })
		x, err := s.modelMix(m, best)
		if err != nil {
			return nil, err
		}
		x.Tried = len(entries)
		out = append(out, x)
	}
	return out, nil
}

// waysModels returns the number of models that the ways of a job name.
func waysModels(j *capcli.Job) int {
	if j.Shape == nil {
		return 0
	}
	var seen []string
	for i := range j.Shape.Ways {
		if m := j.Shape.Ways[i].Model; !slices.Contains(seen, m) {
			seen = append(seen, m)
		}
	}
	return len(seen)
}

// poolModel returns the GPU model of the pool whose size a path sets.
func poolModel(s *scenarios.Scenario, path string) string {
	for i := range s.Capacity {
		if c := &s.Capacity[i]; strings.HasPrefix(path, "capacity."+c.Name+".") || strings.HasPrefix(path, s.PoolPath(i)+".") {
			return c.GPUModel
		}
	}
	return ""
}

// modelCandidates returns the mixes with the rules of the best and no committed GPUs but of one model.
func (s *study) modelCandidates(axes []int, of map[int]string, model string) ([]*Candidate, error) {
	var list [][]int
	at := s.problem.Space.places(s.best.Index)
	list = append(list, at)
	for _, a := range axes {
		values := s.problem.Space.Axes[a].Values
		var take []int
		if of[a] != model {
			if zero := slices.Index(values, "0"); zero >= 0 {
				take = []int{zero}
			}
		} else {
			for k := range min(len(values), modelSizes) {
				take = append(take, k*(len(values)-1)/max(1, min(len(values), modelSizes)-1))
			}
		}
		var next [][]int
		for _, old := range list {
			for _, k := range take {
				p := slices.Clone(old)
				p[a] = k
				next = append(next, p)
			}
		}
		if list = next; len(list) > modelSizes*modelSizes {
			return nil, nil
		}
	}
	var out []*Candidate
	for _, p := range list {
		c, err := s.problem.Candidate(s.problem.Space.index(p))
		switch {
		case isInvalid(err):
		case err != nil:
			return nil, err
		case !c.Unpriced:
			out = append(out, c)
		}
	}
	return out, nil
}

func (s *study) modelMix(model string, e *Entry) (ModelMix, error) {
	m := s.mix(e)
	gpus, err := committedGPUs(e)
	out := ModelMix{
		Model: model, GPUs: gpus, Mix: e.Index, Choices: m.Choices, Best: e.Index == s.best.Index, Holds: e.holds(s.Search.Hold), Cost: e.Cost(), More: e.Cost() - s.best.Cost(),
	}
	if ends, ok := e.Mean("jct_mean"); ok {
		out.Ends = &ends
		if own, ok := s.best.Mean("jct_mean"); ok {
			later := ends - own
			out.Later = &later
		}
	}
	return out, err
}

// ModelsText compares the plan with the best mix of each GPU model, in sentences; "" where there is nothing to
// compare.
func (r *Result) ModelsText() string {
	own := "Both models"
	if len(r.Models) > 2 {
		own = "Several models"
	}
	for i := range r.Models {
		if x := &r.Models[i]; x.Best {
			own = x.name()
		}
	}
	var parts []string
	for i := range r.Models {
		x := &r.Models[i]
		if x.Best {
			continue
		}
		text := fmt.Sprintf("%s rather than %s: %s less", own, x.name(), x.More)
		if x.More < 0 {
			text = fmt.Sprintf("%s rather than %s: %s more", own, x.name(), -x.More)
		}
		if x.Later != nil {
			switch later := capcli.Seconds(*x.Later); {
			case later > 0:
				text += fmt.Sprintf(", jobs end %s sooner", later)
			case later < 0:
				text += fmt.Sprintf(", jobs end %s later", -later)
			}
		}
		if !x.Holds {
			text += "; the other breaks a limit"
		}
		parts = append(parts, text+".")
	}
	return strings.Join(parts, " ")
}

// name returns the mix in words: "48 A100".
func (x *ModelMix) name() string {
	if x.GPUs == 0 {
		return "nothing committed"
	}
	return strconv.FormatInt(x.GPUs, 10) + " " + x.Model
}
