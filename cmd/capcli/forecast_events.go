package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/forecast/outlook"
	"capcli/profile/trace"
	"capcli/scenarios/events"
)

func newForecastEvents(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Files of events: a template, a check, what campaigns cost",
		Example: "  capcli forecast events init --out events.yaml\n" +
			"  capcli forecast events validate events.yaml\n" +
			"  capcli forecast jobs.parquet --step 1d --horizon 90 --events events.yaml",
	}
	group(cmd)
	cmd.AddCommand(newEventsInit(e), newEventsValidate(e), newEventsCost(e))
	return cmd
}

func newEventsInit(e *env) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "init",
		Short:   "Write a commented file of events to start from",
		Example: "  capcli forecast events init --out events.yaml",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := writeWhole(e, out, []byte(events.Template())); err != nil {
				return err
			}
			if out != "-" {
				e.say(fmt.Sprintf("wrote %s. next: capcli forecast events validate %s", out, out))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "-", "write it to this `FILE`")
	return cmd
}

func newEventsValidate(e *env) *cobra.Command {
	var (
		o  outputOptions
		tz string
	)
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "Check a file of events and say what each comes to",
		Example: "  capcli forecast events validate events.yaml\n" +
			"  capcli forecast events validate events.yaml --tz Europe/Berlin -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			plan, err := readEvents(cmd, e, args, tz)
			if err != nil {
				return err
			}
			return emit(e, o, eventsDoc(plan.File, outlook.DescribeEvents(plan)))
		},
	}
	cmd.Flags().StringVar(&tz, "tz", "", "`ZONE` of days and times that state none, where the file names none")
	addOutputFlags(cmd, &o)
	return cmd
}

// readEvents reads the file of events that args names.
func readEvents(cmd *cobra.Command, e *env, args []string, tz string) (*events.Plan, error) {
	if err := oneArg(cmd, args, "a file of events"); err != nil {
		return nil, err
	}
	in, err := trace.ParseZone(tz)
	if err != nil {
		return nil, err
	}
	b, err := readFile(e, args[0], eventsMax)
	if err != nil {
		return nil, err
	}
	return events.Parse(args[0], b, in, openBeside(e, args[0]))
}

// openBeside opens files whose names are relative to another file.
func openBeside(e *env, file string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) { return readBeside(e, filepath.Dir(file), name) }
}

// eventsDoc lists the events of a file.
func eventsDoc(file string, list []outlook.Event) report.Doc {
	data := outlook.EventList{Schema: "capcli/forecast_events/v1", Events: list}
	t := report.Table{Name: "events", Columns: []report.Column{
		{Name: "event"},
		{Name: "kind"},
		{Name: "from", Align: report.Left},
		{Name: "to", Align: report.Left},
		{Name: "gpus", Head: "GPUs"},
		{Name: "share"},
		{Name: "gpu_hours", Head: "GPU-hours"},
		{Name: "probability", Priority: 1},
	}}
	for i := range list {
		j := &list[i]
		gpus, share := eventSize(j)
		row := []any{j.Name, j.Kind, j.FirstDay, j.LastDay, gpus, share, nil, report.Percent(j.Probability)}
		if j.Days != "" {
			row[2], row[3] = j.Days, nil
		}
		switch {
		case j.Campaign != nil:
			row[6] = report.Range{Mid: j.Campaign.GPUHours, Lo: j.Campaign.Lo, Hi: j.Campaign.Hi}
		case j.GPUHours != nil:
			row[6] = *j.GPUHours
		}
		t.Rows = append(t.Rows, row)
	}
	return report.Doc{Lead: fmt.Sprintf("%s: %d %s.", file, len(list), capcli.Plural(int64(len(list)), "event")), Tables: []report.Table{t}, Data: data}
}
