package profile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"capcli/cmd/files"
	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/profile"
	"capcli/profile/box"
	"capcli/profile/nvml"
)

// doctorOptions are the flags of capcli doctor.
type doctorOptions struct {
	where  string
	out    string
	output shell.OutputOptions
}

func newDoctor(e *shell.Env) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what can be measured on this host, what is missing, and how to get it",
		Long: "doctor examines the driver, each GPU and this user's rights, and changes nothing. Exit 1 means that no GPU\n" +
			"can be sampled here.",
		Example: "  capcli doctor\n" +
			"  capcli doctor --folder /var/lib/capcli/profile -o json",
		Args: shell.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), e, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.where, "where", "", "path of NVIDIA's library, if it is not found automatically: `FILE`")
	f.StringVar(&o.out, "folder", defaultProfile, "check the free space of this `FOLDER`, to which profile would write")
	shell.AddFormFlags(cmd, &o.output)
	return cmd
}

func runDoctor(ctx context.Context, e *shell.Env, o *doctorOptions) error {
	library, _, err := e.WhereFlag(o.where)
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
	if err := shell.Emit(e, o.output, tables.DoctorDoc(found.Document(checks...))); err != nil {
		return err
	}
	if !found.OK {
		return errors.New("no GPU can be sampled here")
	}
	return nil
}

// smiCheck checks whether nvidia-smi can list the GPUs.
func smiCheck(ctx context.Context) nvml.Check {
	in, err := shell.FetchSMI(ctx, "--query-gpu=uuid --format=csv")
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
	free, _, err := files.Room(at)
	for errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at { // profile creates the folder
		at = filepath.Dir(at)
		free, _, err = files.Room(at)
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
