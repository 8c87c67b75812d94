package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"capcli/cmd/report"
	"capcli/profile"
	"capcli/profile/box"
	"capcli/profile/nvml"
)

// doctorOptions are the flags of capcli doctor.
type doctorOptions struct {
	where  string
	out    string
	output outputOptions
}

func newDoctor(e *env) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what can be measured on this host, what is missing, and how to get it",
		Long: "doctor examines the driver, each GPU and this user's rights, and changes nothing. Exit 1 means that no GPU\n" +
			"can be sampled here.",
		Example: "  capcli doctor\n" +
			"  capcli doctor --folder /var/lib/capcli/profile -o json",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), e, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.where, "where", "", "path of NVIDIA's library, if it is not found automatically: `FILE`")
	f.StringVar(&o.out, "folder", defaultProfile, "check the free space of this `FOLDER`, to which profile would write")
	addFormFlags(cmd, &o.output)
	return cmd
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
	checks := append(boxCheck(), roomCheck(o.out))
	if !found.OK {
		smi := smiCheck(ctx)
		found.OK = !nvml.Built && smi.State == nvml.Good
		checks = append([]nvml.Check{smi}, checks...)
	}
	if err := emit(e, o.output, doctorDoc(found.Document(checks...))); err != nil {
		return err
	}
	if !found.OK {
		return errors.New("no GPU can be sampled here")
	}
	return nil
}

// smiCheck checks whether nvidia-smi can list the GPUs.
func smiCheck(ctx context.Context) nvml.Check {
	in, err := fetchSMI(ctx, "--query-gpu=uuid --format=csv")
	if err != nil {
		return nvml.Check{Name: "nvidia-smi", State: nvml.Bad, Text: err.Error(), Fix: "without a GPU: capcli profile --source fake; of another box: --source dcgm --where URL"}
	}
	_ = in.Close() // it was opened for reading alone
	return nvml.Check{Name: "nvidia-smi", State: nvml.Good, Text: "answers", Fix: "capcli profile --source smi"}
}

// boxCheck checks what the system tells of the box around the GPUs; it is empty where nothing can be
// read here.
func boxCheck() []nvml.Check {
	r, ok := box.Examine()
	if !ok {
		return nil
	}
	c := nvml.Check{Name: "host", State: nvml.Good, Text: strings.Join(r.Measured, ", ")}
	if !r.Fabric {
		c.Text += "; it has no InfiniBand, RoCE or EFA"
	}
	if r.Missing != "" {
		c.State, c.Text = nvml.Partly, c.Text+"; "+r.Missing
		c.Fix = "pressure: a kernel with psi=1; in a container, mount the host's /sys"
	}
	return []nvml.Check{c}
}

// leastRoom is the free space, in bytes, below which roomCheck warns. At about 5 MB a day it holds
// months of eight GPUs.
const leastRoom = 1 << 30

// roomCheck checks the free space on the disk that capcli profile would write to.
func roomCheck(folder string) nvml.Check {
	at, err := filepath.Abs(folder)
	if err != nil {
		return nvml.Check{Name: "disk", State: nvml.Bad, Text: err.Error()}
	}
	free, _, err := diskRoom(at)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at { // profile creates the folder
		at = filepath.Dir(at)
		free, _, err = diskRoom(at)
	}
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nvml.Check{Name: "disk", State: nvml.Partly, Text: "the free space is not known here"}
	case err != nil:
		return nvml.Check{Name: "disk", State: nvml.Bad, Text: fmt.Sprintf("%s: %v", at, err)}
	case free < leastRoom:
		return nvml.Check{Name: "disk", State: nvml.Partly, Text: fmt.Sprintf("%.0f MiB free in %s", float64(free)/(1<<20), at), Fix: "eight GPUs at 1 Hz need about 5 MB a day; choose another --out"}
	}
	return nvml.Check{Name: "disk", State: nvml.Good, Text: fmt.Sprintf("%.0f GiB free in %s", float64(free)/(1<<30), at)}
}

func doctorDoc(d *nvml.Document) report.Doc {
	out := report.Doc{Lead: fmt.Sprintf("%s: GPUs can be sampled.", d.Host), Data: d}
	if !d.OK {
		out.Lead = fmt.Sprintf("%s: no GPU can be sampled.", d.Host)
	}
	out.Tables = []report.Table{report.Fill(report.Table{Name: "checks"}, d.Checks, []report.Field[nvml.Check]{
		{Name: "name", Head: "", Align: report.Left},
		{Name: "state", Head: "", Align: report.Left, Cell: func(c nvml.Check) any { return report.Verdict{Text: string(c.State), Good: c.State == nvml.Good} }},
		{Name: "text", Head: "found", Align: report.Left},
		{Name: "fix", Head: "what to do", Align: report.Left, Priority: 1},
	})}
	if len(d.GPUs) > 0 {
		out.Tables = append(out.Tables, report.Fill(report.Table{Name: "gpus", Title: "metrics of each GPU", Most: shownGPUs}, d.GPUs, []report.Field[nvml.SeenGPU]{
			{Name: "gpu", Align: report.Left, Cell: func(g nvml.SeenGPU) any { return strings.TrimSpace(fmt.Sprintf("%d %s", g.GPU, g.Profile)) }},
			{Name: "gpu_model", Head: "model", Align: report.Left},
			{Name: "measured", Head: "metrics", Cell: func(g nvml.SeenGPU) any { return len(g.Measured) }},
			{Name: "missing", Align: report.Left, Cell: func(g nvml.SeenGPU) any { return textCell(g.MissingText()) }},
		}))
	}
	return out
}
