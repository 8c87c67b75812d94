package main

import (
	"context"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/scenarios"
)

// addOverrideFlags gives cmd the flags that make a scenario look at a log that
// it was not written for.
func (o *simulateOptions) addOverrideFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.period, "period", "", "time looked at, in place of the scenario's: `'A to B'`, or trace for the days of the log")
	f.StringVar(&o.models, "models", "", "`any`: run jobs on GPUs of any model, whatever the log says that they want")
	complete(cmd, "period", func() []string { return []string{"trace\tthe days on which the jobs of --trace were submitted"} })
	complete(cmd, "models", func() []string { return []string{"any\tjobs run on GPUs of any model"} })
}

// tracePeriod is the --period that stands for the days of the log.
const tracePeriod = "trace"

// checkOverrides turns --period and --models into changes of the scenario,
// which a folder of runs keeps as it keeps those of --set.
func (o *simulateOptions) checkOverrides() error {
	switch o.models {
	case "":
	case "any":
		o.sets = append(o.sets, "jobs.any_model=true")
	default:
		return &usageError{text: "--models wants any, found " + o.models, hint: "--models any runs jobs on GPUs of any model"}
	}
	if o.period != "" && o.period != tracePeriod {
		if _, err := scenarios.ParsePeriod(o.period); err != nil {
			return &usageError{text: "--period: " + err.Error(), hint: "--period '2027-01-01 to 2027-01-28', or --period trace for the days of the log"}
		}
		o.setPeriod(o.period)
	}
	return nil
}

// setPeriod changes the period of the scenario. Its generator makes no jobs
// where a log is given, so it need not fit the period.
func (o *simulateOptions) setPeriod(text string) {
	o.sets = append(o.sets, "period="+text)
	if o.trace != "" {
		o.sets = append(o.sets, "jobs.generate=null")
	}
	o.period = ""
}

// settlePeriod reads the log for --period trace.
func (o *simulateOptions) settlePeriod(ctx context.Context, e *env, held *heldJobs) error {
	if o.period != tracePeriod {
		return nil
	}
	if o.trace == "" {
		return &usageError{text: "--period trace takes the days of the log that --trace names, but there is no --trace", hint: "--trace jobs.parquet --period trace"}
	}
	if held.survey == nil {
		if err := o.surveyLog(ctx, e, held); err != nil {
			return err
		}
	}
	if !held.survey.Period().Known() {
		return &capcli.InputError{File: o.trace, Text: "expected jobs that want GPUs, found none", Hint: "capcli trace describe " + o.trace}
	}
	o.setPeriod(held.survey.Period().String())
	return nil
}

// surveyLog reads the log of --trace once to learn what it is like.
func (o *simulateOptions) surveyLog(ctx context.Context, e *env, held *heldJobs) error {
	opts, err := o.read.options()
	if err != nil {
		return err
	}
	reading, err := held.logs.Read(o.trace, opts)
	if err != nil {
		return err
	}
	defer func() { _ = reading.Close() }()
	survey := &scenarios.LogSurvey{}
	p := newProgress(e, "jobs")
	for j, err := range checked(ctx, reading.Jobs, p) {
		if err != nil {
			return err
		}
		survey.Add(&j)
	}
	p.end(survey.Jobs())
	if reading.Reader != nil {
		rep := reading.Reader.Report()
		survey.MachineGPUs = int64(rep.MachineGPUs)
	}
	held.survey = survey
	return nil
}
