package jobfile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"capcli"
)

// Only chooses the jobs that want one GPU model. Jobs that name no model want any, and are chosen.
type Only struct {
	GPU  string
	Same func(a, b string) bool // reports whether two names are of one model
}

// wants reports whether a job that wants a model, or one of several ("A100|H100"), may have GPUs of o.
func (o *Only) wants(model string) bool {
	return model == "" || slices.ContainsFunc(strings.Split(model, "|"), func(m string) bool { return o.Same(m, o.GPU) })
}

// tallyOfModels counts the jobs that Only leaves out, by the model that they want.
type tallyOfModels struct {
	left   int64
	models map[string]int64
	named  bool // whether a chosen job names the model
}

// take yields the jobs that o chooses. A nil o chooses all.
func (t *tallyOfModels) take(o *Only, jobs capcli.Jobs) capcli.Jobs {
	if o == nil {
		return jobs
	}
	t.models = map[string]int64{}
	return func(yield func(capcli.Job, error) bool) {
		for job, err := range jobs {
			if err == nil && !o.wants(job.GPUModel) {
				t.left++
				t.models[job.GPUModel]++
				continue
			}
			t.named = t.named || job.GPUModel != ""
			if !yield(job, err) {
				return
			}
		}
	}
}

// listed is the largest number of models that a message lists.
const listed = 8

// settle returns notes on what was left out. It fails with *capcli.InputError where no job is left.
func (t *tallyOfModels) settle(r *Request, kept int64) (notes []string, err error) {
	if r.Only == nil {
		return nil, nil
	}
	names := slices.SortedFunc(maps.Keys(t.models), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.models[b], t.models[a]), cmp.Compare(a, b))
	})
	var texts []string
	for _, n := range names {
		texts = append(texts, fmt.Sprintf("%s (%s %s)", capcli.Quoted(n), capcli.Grouped(t.models[n]), capcli.Plural(t.models[n], "job")))
	}
	list := strings.Join(capcli.Abridge(texts, listed), ", ")
	switch {
	case kept == 0 && t.left > 0:
		return nil, &capcli.InputError{
			File: r.Input, Field: "gpu_model", Text: fmt.Sprintf("expected jobs that want %s, found only jobs that want %s", r.Only.GPU, list),
			Hint: "--gpu " + capcli.ShellWord(names[0]) + ", or another GPU that the log has",
		}
	case t.left > 0:
		notes = append(notes, fmt.Sprintf("%s %s other GPUs than %s and are left out: %s", capcli.Grouped(t.left), verb(t.left, "job wants", "jobs want"), r.Only.GPU, list))
	}
	if kept > 0 && !t.named {
		notes = append(notes, "the jobs name no GPU model: all are taken to want "+r.Only.GPU)
	}
	return notes, nil
}

func verb(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
