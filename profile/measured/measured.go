// Package measured reads what capcli profile summary -o json wrote, for plans that rest on it: how
// much of its time a job waits for input, and how busy the tensor cores are.
package measured

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"capcli"
)

// Schema is the schema of the documents that Read reads.
const Schema = "capcli/profile_summary/v1"

// maxBytes is the most bytes of a summary that are read.
const maxBytes = 256 << 20

// Summary is the part of a profile summary that plans use.
type Summary struct {
	File  string
	Jobs  []Job
	Total Use
}

// Job is the use by one job.
type Job struct {
	ID     string `json:"job_id"`
	Tenant string `json:"tenant"`
	GPUs   int    `json:"gpus"`
	Use
}

// Use is the use of GPUs. A nil figure was not measured.
type Use struct {
	Held    *float64 `json:"held_gpu_hours"`         // GPU-hours
	Starved *float64 `json:"starved_s"`              // GPU-seconds of pauses between bursts of work
	Tensor  *float64 `json:"tensor_active_pct_mean"` // share of the time that the tensor cores work, in percent
}

// Read reads a summary. It fails with *capcli.InputError if the document is no profile summary, or a
// figure is none that a profile can have.
func Read(file string, r io.Reader) (*Summary, error) {
	bad := func(field, text string, args ...any) error {
		return &capcli.InputError{File: file, Field: field, Text: fmt.Sprintf(text, args...), Hint: "write one with capcli profile summary DIR -o json"}
	}
	var doc struct {
		Schema string `json:"schema"`
		Jobs   []Job  `json:"jobs"`
		Total  Use    `json:"total"`
	}
	b, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxBytes {
		return nil, bad("", "expected at most 256 MiB, found more")
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, bad("", "expected a profile summary in JSON, found %v", err)
	}
	if doc.Schema != Schema {
		return nil, bad("schema", "expected %s, found %s", Schema, capcli.Quoted(doc.Schema))
	}
	for i := range doc.Jobs {
		if field := doc.Jobs[i].fault(); field != "" {
			return nil, bad(field, "job %s has a figure that no profile has", capcli.Quoted(doc.Jobs[i].ID))
		}
	}
	if field := doc.Total.fault(); field != "" {
		return nil, bad(field, "the total has a figure that no profile has")
	}
	return &Summary{file, doc.Jobs, doc.Total}, nil
}

// fault returns the name of a field whose value is impossible, or "".
func (u *Use) fault() string {
	in := func(v *float64, most float64) bool { return v == nil || *v >= 0 && *v <= most }
	switch {
	case !in(u.Held, 1e12):
		return "held_gpu_hours"
	case !in(u.Starved, 1e15) || u.Starved != nil && u.Held != nil && *u.Starved > *u.Held*3600*1.001+1:
		return "starved_s"
	case !in(u.Tensor, 100.001):
		return "tensor_active_pct_mean"
	}
	return ""
}

// Select returns the use by the jobs of tenants and with the given ids together; by all of the summary if
// both are empty. It fails with *capcli.InputError if there is no such job.
func (s *Summary) Select(tenants, ids []string) (Use, error) {
	if len(tenants)+len(ids) == 0 {
		return s.Total, nil
	}
	var held, starved, tensor, tensorOver float64
	measured, known := 0, false
	for i := range s.Jobs {
		j := &s.Jobs[i]
		if !slices.Contains(tenants, j.Tenant) && !slices.Contains(ids, j.ID) || j.Held == nil {
			continue
		}
		measured++
		held += *j.Held
		if j.Starved != nil {
			starved, known = starved+*j.Starved, true
		}
		if j.Tensor != nil {
			tensor, tensorOver = tensor+*j.Tensor**j.Held, tensorOver+*j.Held
		}
	}
	if measured == 0 {
		return Use{}, &capcli.InputError{
			File: s.File, Field: "jobs", Text: fmt.Sprintf("expected jobs of %s, found none among %d", strings.Join(append(slices.Clone(tenants), ids...), ", "), len(s.Jobs)),
			Hint: "capcli profile summary lists the jobs and tenants that were measured",
		}
	}
	out := Use{Held: &held}
	if known {
		out.Starved = &starved
	}
	if tensorOver > 0 {
		mean := tensor / tensorOver
		out.Tensor = &mean
	}
	return out, nil
}

// StarvedShare returns the share of the time held in which the work waits for input. It is false if that
// was not measured.
func (u *Use) StarvedShare() (float64, bool) {
	if u.Held == nil || u.Starved == nil || *u.Held <= 0 {
		return 0, false
	}
	return math.Min(1, *u.Starved/3600 / *u.Held), true
}

// TensorShare returns the share of the time in which the tensor cores work. It is false if that was not
// measured. It bounds the model FLOPs utilisation from above: work that is done twice, such as recomputed
// activations, is active time but no progress of the model.
func (u *Use) TensorShare() (float64, bool) {
	if u.Tensor == nil || *u.Tensor <= 0 {
		return 0, false
	}
	return math.Min(1, *u.Tensor/100), true
}
