package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/profile"
	"capcli/profile/nvml"
)

// doctorOptions are the flags of doctor.
type doctorOptions struct {
	where  string
	out    string
	output outputOptions
}

func newDoctor(e *env) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what can be measured on this box, what is missing, and how to get it",
		Long: "doctor looks at the driver, at each GPU and at what this user may see, and changes nothing. Exit 1 says that no GPU\n" +
			"can be sampled here.",
		Example: "  capcli doctor\n" +
			"  capcli doctor --out /var/lib/capcli/profile -o json",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), e, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.where, "where", "", "NVIDIA's library, where it is not found by itself: `FILE`")
	f.StringVar(&o.out, "folder", defaultProfile, "the `FOLDER` that profile would write: is there room?")
	addFormFlags(cmd, &o.output)
	return cmd
}

// doctorJSON is the JSON of doctor.
type doctorJSON struct {
	Schema  string      `json:"schema"`
	OK      bool        `json:"ok"`
	Host    string      `json:"host"`
	Driver  string      `json:"driver"`
	NVML    string      `json:"nvml"`
	Library string      `json:"library"`
	Checks  []checkJSON `json:"checks"`
	GPUs    []seenJSON  `json:"gpus"`
}

type checkJSON struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Text  string `json:"text"`
	Fix   string `json:"fix"`
}

type seenJSON struct {
	GPU       int               `json:"gpu"`
	UUID      string            `json:"gpu_uuid"`
	Model     string            `json:"gpu_model"`
	MIG       bool              `json:"mig"`
	Parent    string            `json:"parent_uuid,omitempty"`
	Profile   string            `json:"mig_profile,omitempty"`
	Measured  []string          `json:"measured"`
	Missing   map[string]string `json:"missing"`
	Processes string            `json:"processes,omitempty"`
}

func runDoctor(ctx context.Context, e *env, o *doctorOptions) error {
	if err := o.output.check(); err != nil {
		return err
	}
	library, _, err := e.whereFlag(o.where)
	if err != nil {
		return err
	}
	found := nvml.Examine(profile.SourceOptions{Where: library})
	if !found.OK {
		found.Checks = append(found.Checks, smiCheck(ctx))
	}
	found.Checks = append(found.Checks, roomCheck(o.out))
	d := &doctorJSON{
		Schema: "capcli/doctor/v1", OK: found.OK, Host: found.Host, Driver: found.Driver, NVML: found.NVML, Library: found.Library,
		Checks: []checkJSON{}, GPUs: []seenJSON{},
	}
	for _, c := range found.Checks {
		d.Checks = append(d.Checks, checkJSON{c.Name, string(c.State), c.Text, c.Fix})
	}
	for _, g := range found.GPUs {
		one := describeDevice(&g.Device, g.Why)
		one.MIG, one.Processes = g.MIG, reasonText(g.Processes)
		d.GPUs = append(d.GPUs, one)
		for _, i := range g.Instances {
			one := describeDevice(&i.Device, i.Why)
			one.MIG = true
			d.GPUs = append(d.GPUs, one)
		}
	}
	if err := emit(e, o.output, d.doc()); err != nil {
		return err
	}
	if !d.OK {
		return errors.New("no GPU can be sampled here")
	}
	return nil
}

func reasonText(r profile.Reason) string {
	if r == profile.Known {
		return ""
	}
	return r.String()
}

func describeDevice(d *profile.Device, why [profile.NumMetrics]profile.Reason) seenJSON {
	out := seenJSON{GPU: d.Index, UUID: d.UUID, Model: d.Model, Parent: d.Parent, Profile: d.Profile, Measured: []string{}, Missing: map[string]string{}}
	for m, r := range why {
		if name := profile.Metrics[m].Name; r == profile.Known {
			out.Measured = append(out.Measured, name)
		} else {
			out.Missing[name] = r.String()
		}
	}
	return out
}

// smiCheck looks for the other way to see the GPUs.
func smiCheck(ctx context.Context) nvml.Check {
	in, err := fetchSMI(ctx, "--query-gpu=uuid --format=csv")
	if err != nil {
		return nvml.Check{Name: "nvidia-smi", State: nvml.Bad, Text: err.Error(), Fix: "without a GPU: capcli profile --source fake; of another box: --source dcgm --where URL"}
	}
	_ = in.Close() // it was only read
	return nvml.Check{Name: "nvidia-smi", State: nvml.Good, Text: "answers", Fix: "capcli profile --source smi"}
}

// leastRoom is a month of eight GPUs, generously.
const leastRoom = 1 << 30

// roomCheck looks at the disk that profile would write to.
func roomCheck(folder string) nvml.Check {
	at, err := filepath.Abs(folder)
	if err != nil {
		return nvml.Check{Name: "disk", State: nvml.Bad, Text: err.Error()}
	}
	free, err := freeBytes(at)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at { // it is made when it is needed
		at = filepath.Dir(at)
		free, err = freeBytes(at)
	}
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nvml.Check{Name: "disk", State: nvml.Partly, Text: "how much is free is not told here"}
	case err != nil:
		return nvml.Check{Name: "disk", State: nvml.Bad, Text: fmt.Sprintf("%s: %v", at, err)}
	case free < leastRoom:
		return nvml.Check{Name: "disk", State: nvml.Partly, Text: fmt.Sprintf("%.0f MiB free in %s", float64(free)/(1<<20), at), Fix: "eight GPUs at 1 Hz need about 5 MB a day; choose another --out"}
	}
	return nvml.Check{Name: "disk", State: nvml.Good, Text: fmt.Sprintf("%.0f GiB free in %s", float64(free)/(1<<30), at)}
}

func (d *doctorJSON) doc() report.Doc {
	checks := report.Table{Name: "checks", Columns: []report.Column{
		{Name: "name", Head: "", Align: report.Left}, {Name: "state", Head: "", Align: report.Left}, {Name: "text", Head: "found", Align: report.Left}, {Name: "fix", Head: "what to do", Align: report.Left, Priority: 1},
	}}
	for _, c := range d.Checks {
		checks.Rows = append(checks.Rows, []any{c.Name, report.Verdict{Text: c.State, Good: c.State == string(nvml.Good)}, c.Text, c.Fix})
	}
	gpus := report.Table{Name: "gpus", Title: "what each GPU tells", Most: shownGPUs, Columns: []report.Column{
		{Name: "gpu", Align: report.Left}, {Name: "gpu_model", Head: "model", Align: report.Left}, {Name: "measured", Head: "metrics"}, {Name: "missing", Align: report.Left},
	}}
	for _, g := range d.GPUs {
		gpus.Rows = append(gpus.Rows, []any{strings.TrimSpace(fmt.Sprintf("%d %s", g.GPU, g.Profile)), g.Model, len(g.Measured), missingText(g.Missing)})
	}
	lead := fmt.Sprintf("%s: GPUs can be sampled.", d.Host)
	if !d.OK {
		lead = fmt.Sprintf("%s: no GPU can be sampled.", d.Host)
	}
	out := report.Doc{Lead: lead, Tables: []report.Table{checks}, Data: d}
	if len(d.GPUs) > 0 {
		out.Tables = append(out.Tables, gpus)
	}
	return out
}

// missingText groups what is missing by its reason.
func missingText(missing map[string]string) any {
	if len(missing) == 0 {
		return nil
	}
	by := map[string][]string{}
	for name, why := range missing {
		by[why] = append(by[why], name)
	}
	var parts []string
	for why, names := range by {
		sort.Strings(names)
		parts = append(parts, why+": "+strings.Join(names, ", "))
	}
	sort.Strings(parts)
	return strings.Join(parts, "; ")
}
