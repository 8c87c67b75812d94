package nvml

import (
	"slices"
	"strings"

	"capcli/profile"
)

// Document is a Report in the form of the schema capcli/doctor/v1: GPUs and MIG instances are in
// one list.
type Document struct {
	Schema  string    `json:"schema"`
	OK      bool      `json:"ok"`
	Host    string    `json:"host"`
	Driver  string    `json:"driver"`
	NVML    string    `json:"nvml"`
	Library string    `json:"library"`
	Checks  []Check   `json:"checks"`
	GPUs    []SeenGPU `json:"gpus"`
}

// SeenGPU lists the metrics that a GPU or a MIG instance gives, and those it does not.
type SeenGPU struct {
	GPU       int               `json:"gpu"`
	UUID      string            `json:"gpu_uuid"`
	Model     string            `json:"gpu_model"`
	MIG       bool              `json:"mig"`
	Parent    string            `json:"parent_uuid,omitempty"`
	Profile   string            `json:"mig_profile,omitempty"`
	Measured  []string          `json:"measured"`
	Missing   map[string]string `json:"missing"` // reason by name of the metric
	Processes string            `json:"processes,omitempty"`
}

// Document returns the report as a document, with the checks more after its own.
func (r *Report) Document(more ...Check) *Document {
	d := &Document{
		Schema: "capcli/doctor/v1", OK: r.OK, Host: r.Host, Driver: r.Driver, NVML: r.NVML, Library: r.Library,
		Checks: append(append([]Check{}, r.Checks...), more...), GPUs: []SeenGPU{},
	}
	for _, g := range r.GPUs {
		one := newSeenGPU(&g.Device, g.MIG, g.Why)
		if g.Processes != profile.Known {
			one.Processes = g.Processes.String()
		}
		d.GPUs = append(d.GPUs, one)
		for _, i := range g.Instances {
			d.GPUs = append(d.GPUs, newSeenGPU(&i.Device, true, i.Why))
		}
	}
	return d
}

func newSeenGPU(d *profile.Device, mig bool, why [profile.NumMetrics]profile.Reason) SeenGPU {
	out := SeenGPU{GPU: d.Index, UUID: d.UUID, Model: d.Model, MIG: mig, Parent: d.Parent, Profile: d.Profile, Measured: []string{}, Missing: map[string]string{}}
	for m, r := range why {
		if name := profile.Metrics[m].Name; r == profile.Known {
			out.Measured = append(out.Measured, name)
		} else {
			out.Missing[name] = r.String()
		}
	}
	return out
}

// MissingText returns the missing metrics, grouped by reason; "" where none is missing.
func (g *SeenGPU) MissingText() string {
	byReason := map[string][]string{}
	for name, why := range g.Missing {
		byReason[why] = append(byReason[why], name)
	}
	var parts []string
	for why, names := range byReason {
		slices.Sort(names)
		parts = append(parts, why+": "+strings.Join(names, ", "))
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}
