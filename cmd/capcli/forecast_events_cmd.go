package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/report"
	"capcli/forecast"
	"capcli/forecast/outlook"
	"capcli/scenarios/events"
)

func newForecastEvents(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Files of events: a template, a check",
		Example: "  capcli forecast events init --out events.yaml\n" +
			"  capcli forecast events validate events.yaml\n" +
			"  capcli forecast jobs.parquet --step 1d --horizon 90 --events events.yaml",
	}
	group(cmd)
	cmd.AddCommand(newEventsInit(e), newEventsValidate(e))
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
			if err := oneArg(cmd, args, "a file of events"); err != nil {
				return err
			}
			in, err := zone(tz)
			if err != nil {
				return err
			}
			b, err := readFile(e, args[0], eventsMax)
			if err != nil {
				return err
			}
			events, err := events.Parse(args[0], b, in)
			if err != nil {
				return err
			}
			return emit(e, o, eventsDoc(events))
		},
	}
	cmd.Flags().StringVar(&tz, "tz", "", "`ZONE` of days and times that state none, where the file names none")
	addOutputFlags(cmd, &o)
	return cmd
}

// eventsDoc lists what a file of events says.
func eventsDoc(events *forecast.PlannedEvents) report.Doc {
	data := struct {
		Schema string          `json:"schema"`
		Events []outlook.Event `json:"events"`
	}{Schema: "capcli/forecast_events/v1"}
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
	for i := range events.List {
		p := &events.List[i]
		j := outlook.DescribeEvent(p)
		data.Events = append(data.Events, j)
		var hours any
		switch e := &p.Event; {
		case p.Campaign != nil:
			hours = report.Range{Mid: p.Cost.GPUHours, Lo: p.Cost.Lo, Hi: p.Cost.Hi}
		case p.Kind == "pulse" && !e.Relative:
			hours = e.Size * float64(e.End-e.Start) / 3600
		}
		gpus, share := plannedSize(p)
		row := []any{p.Name, p.Kind, nil, nil, gpus, share, hours, report.Percent(j.Probability)}
		if p.Holiday == nil {
			row[2], row[3] = outlook.FormatDay(p.Event.Start, events.Zone, false), outlook.FormatDay(endOf(&p.Event), events.Zone, true)
		} else {
			row[2] = daysText(p.Holiday)
		}
		t.Rows = append(t.Rows, row)
	}
	return report.Doc{Lead: fmt.Sprintf("%s: %d %s.", events.File, len(events.List), plural(int64(len(events.List)), "event")), Tables: []report.Table{t}, Data: data}
}

// daysText names the first days of a holiday.
func daysText(h *forecast.HolidayRule) string {
	var out []string
	for _, d := range h.Days {
		switch {
		case d.Easter && d.Offset == 0:
			out = append(out, "easter")
		case d.Easter:
			out = append(out, fmt.Sprintf("easter%+d", d.Offset))
		case d.Year == 0:
			out = append(out, fmt.Sprintf("%02d-%02d", int(d.Month), d.Day))
		default:
			out = append(out, fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day))
		}
	}
	text := ""
	for i, s := range capcli.Abridge(out, 3) {
		if i > 0 {
			text += ", "
		}
		text += s
	}
	return text
}
