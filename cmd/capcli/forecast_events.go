package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/forecast/outlook"
	"capcli/profile/trace"
	"capcli/scenarios/events"
	"capcli/scenarios/play"
)

func newForecastEvents(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Files of events and of requests: a template, a check, what campaigns cost",
		Example: "  capcli forecast events init --out events.yaml\n" +
			"  capcli forecast events validate events.yaml\n" +
			"  capcli forecast jobs.parquet --step 1d --horizon 90 --events events.yaml",
	}
	group(cmd)
	cmd.AddCommand(newEventsInit(e), newEventsValidate(e), newEventsCost(e))
	return cmd
}

func newEventsInit(e *env) *cobra.Command {
	out, request := "-", false
	cmd := &cobra.Command{
		Use:     "init",
		Short:   "Write a commented file of events to start from",
		Example: "  capcli forecast events init --out events.yaml\n  capcli forecast events init --request --out vision.yaml",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := writeWhole(e, out, []byte(events.Template(request))); err != nil {
				return err
			}
			if out != "-" {
				e.say(fmt.Sprintf("wrote %s. next: capcli forecast events validate %s", out, out))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "-", "write it to this `FILE`")
	cmd.Flags().BoolVar(&request, "request", false, "a short file of one request for capacity")
	return cmd
}

func newEventsValidate(e *env) *cobra.Command {
	var (
		o  outputOptions
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
			return emit(e, o, eventsDoc(plan, outlook.DescribeEvents(plan)))
		},
	}
	cmd.Flags().StringVar(&tz, "tz", "", "`ZONE` of days and times that state none, where the file names none")
	addOutputFlags(cmd, &o)
	return cmd
}

// readEvents reads the files of events that args name.
func readEvents(cmd *cobra.Command, e *env, args []string, tz string) (*events.Plan, error) {
	if len(args) == 0 {
		return nil, oneArg(cmd, args, "a file of events")
	}
	in, err := trace.ParseZone(tz)
	if err != nil {
		return nil, err
	}
	return play.ReadEvents(e.opener(), args, in)
}

// eventsDoc lists the events of a plan, and those that are requests again with what is said of them.
func eventsDoc(plan *events.Plan, list []outlook.Event) report.Doc {
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
	asked := outlook.Requests(list)
	requests := report.Fill(report.Table{Name: "requests", Title: "Requests for capacity", Aside: len(asked) == 0}, asked, []report.Field[outlook.Event]{
		{Name: "team"}, {Name: "name", Head: "request"}, {Name: "asked_by", Priority: 2}, {Name: "reason"}, {Name: "without", Head: "without it"}, {Name: "value_usd", Head: "value", Priority: 1},
	})
	return report.Doc{Lead: fmt.Sprintf("%s: %d %s.", plan.File, len(list), capcli.Plural(int64(len(list)), "event")), Tables: []report.Table{t, requests}, Data: outlook.EventList{Schema: "capcli/forecast_events/v1", Events: list}, Notes: plan.Notes}
}
