package forecast

import (
	"fmt"

	"github.com/spf13/cobra"

	"capcli/cmd/shell"
	"capcli/cmd/tables"
	"capcli/forecast/outlook"
	"capcli/profile/logs/trace"
	"capcli/scenarios/events"
	"capcli/scenarios/play"
)

func newForecastEvents(e *shell.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Files of events and of requests: a template, a check, what campaigns cost",
		Example: "  capcli forecast events init --out events.yaml\n" +
			"  capcli forecast events validate events.yaml\n" +
			"  capcli forecast jobs.parquet --step 1d --horizon 90 --events events.yaml",
	}
	shell.SetGroup(cmd)
	cmd.AddCommand(newEventsInit(e), newEventsValidate(e), newEventsCost(e))
	return cmd
}

func newEventsInit(e *shell.Env) *cobra.Command {
	out, request := "-", false
	cmd := &cobra.Command{
		Use:     "init",
		Short:   "Write a commented file of events to start from",
		Example: "  capcli forecast events init --out events.yaml\n  capcli forecast events init --request --out vision.yaml",
		Args:    shell.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := shell.WriteWhole(e, out, []byte(events.Template(request))); err != nil {
				return err
			}
			if out != "-" {
				e.Say(fmt.Sprintf("wrote %s. next: capcli forecast events validate %s", out, out))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "-", "write it to this `FILE`")
	cmd.Flags().BoolVar(&request, "request", false, "a short file of one request for capacity")
	return cmd
}

func newEventsValidate(e *shell.Env) *cobra.Command {
	var (
		o  shell.OutputOptions
		tz string
	)
	cmd := &cobra.Command{
		Use:   "validate FILE…",
		Short: "Check files of events and say what each event comes to",
		Example: "  capcli forecast events validate vision.yaml chat.yaml\n" +
			"  capcli forecast events validate events.yaml --tz Europe/Berlin -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := readEvents(cmd, e, args, tz)
			if err != nil {
				return err
			}
			return shell.Emit(e, o, tables.EventsDoc(plan, outlook.DescribeEvents(plan)))
		},
	}
	cmd.Flags().StringVar(&tz, "tz", "", "`ZONE` of days and times that state none, where the file names none")
	shell.AddOutputFlags(cmd, &o)
	return cmd
}

// readEvents reads the files of events that args name.
func readEvents(cmd *cobra.Command, e *shell.Env, args []string, tz string) (*events.Plan, error) {
	if len(args) == 0 {
		return nil, shell.OneArg(cmd, args, "a file of events")
	}
	in, err := trace.ParseZone(tz)
	if err != nil {
		return nil, err
	}
	return play.ReadEvents(e.Opener(), args, in)
}
