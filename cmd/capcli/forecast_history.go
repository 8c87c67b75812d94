package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"capcli"
	"capcli/profile/demand"
	"capcli/profile/parquet"
	"capcli/profile/series"
	"capcli/profile/trace"
)

// historyOptions say where the history is and how to read it.
type historyOptions struct {
	read            traceOptions
	by              []string
	measure         string
	peak            bool
	peakBy          string // the period of --peak; "" is a step
	periods         bool   // --horizon is a list
	step            string
	agg, gaps       string
	id, time, value string
	prom            promOptions
	censor          censorOptions
	tree            treeOptions
	whole           bool // a demand curve: all steps of a job log, no figure under 0, and --step is how long a value without a date lasts

	steps capcli.Step
	zone  *time.Location
}

func (o *historyOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&o.by, "by", nil, "a series for each `KEY`: pool (of samples host), gpu_model, tenant, class, total")
	f.StringVar(&o.measure, "measure", "demand", "`WHAT`, usage, queue, arrivals, arrival-hours; busy, sm…")
	f.Var(peakFlag{o}, "peak", "highest level in each step of a job log; or of each `PERIOD`, day or week")
	f.Lookup("peak").NoOptDefVal = "step"
	f.StringVar(&o.step, "step", "", "`STEP` between values: 15m, 1h, 1d, 1w, 1mo (default: as in a table; 1h of jobs)")
	f.StringVar(&o.agg, "agg", "", "`HOW` values in one step combine: mean (default with --step), sum or max")
	f.StringVar(&o.gaps, "gaps", "", "steps without a value: `WHAT`, error, zero, linear, previous, missing (default)")
	f.StringVar(&o.id, "id-col", "", "`NAME` of the column that tells series apart (unique_id); a,b joins two")
	f.StringVar(&o.time, "time-col", "", "`NAME` of the column of times (ds)")
	f.StringVar(&o.value, "value-col", "", "`NAME` of the column of values (y)")
	o.prom.addFlags(cmd)
	o.censor.addFlags(cmd)
	o.tree.addFlags(cmd)
	addFormatFlag(cmd, &o.read)
	addTraceFlags(cmd, &o.read)
	explainedBy(cmd, "capcli trace describe", "format")
	completeList(cmd, "by", groupKeys)
	complete(cmd, "gaps", func() []string { return []string{"error", "zero", "linear", "previous", "missing"} })
	complete(cmd, "agg", func() []string { return []string{"mean", "sum", "max"} })
	complete(cmd, "measure", func() []string { return measures })
}

// measures are those of job logs and of folders of GPU samples.
var measures = []string{"demand", "usage", "queue", "arrivals", "arrival-hours", "held", "busy", "sm", "power"}

func oneOf(flag, value string, have ...string) error {
	names := capcli.Catalog[struct{}]{Kind: flag}
	for _, h := range have {
		names.Add(h, "", struct{}{})
	}
	_, err := names.Get(value)
	return err
}

func (o *historyOptions) check() error {
	if o.gaps != "" {
		if err := oneOf("--gaps", o.gaps, "error", "zero", "linear", "previous", "missing"); err != nil {
			return err
		}
	}
	if o.agg != "" {
		if err := oneOf("--agg", o.agg, "mean", "sum", "max"); err != nil {
			return err
		}
	}
	if err := oneOf("--measure", o.measure, measures...); err != nil {
		return err
	}
	for _, k := range o.by {
		if err := oneOf("--by", k, groupKeys()...); err != nil {
			return err
		}
	}
	if err := o.tree.check(); err != nil {
		return err
	}
	if err := o.censor.check(); err != nil {
		return err
	}
	var err error
	if o.step != "" {
		if o.steps, err = capcli.ParseStep(o.step); err != nil {
			return &usageError{text: "--step: " + err.Error()}
		}
	}
	o.zone, err = zone(o.read.tz)
	return err
}

// load reads all histories of a call, what lies beside them, and what adds up to
// what.
func (o *historyOptions) load(ctx context.Context, e *env, args []string) (*demand.Histories, error) {
	if err := o.readBeside(e); err != nil {
		return nil, err
	}
	hs, err := o.loadHistories(ctx, e, args)
	if err != nil {
		return nil, err
	}
	if err := o.settle(hs); err != nil {
		return nil, err
	}
	return hs, o.arrange(hs)
}

func (o *historyOptions) loadHistories(ctx context.Context, e *env, args []string) (*demand.Histories, error) {
	if o.prom.address != "" {
		if len(args) > 0 {
			return nil, &usageError{text: fmt.Sprintf("--prom takes the history from Prometheus, found also %q", args[0])}
		}
		return o.fromPrometheus(ctx, e)
	}
	if err := o.prom.unused(len(folders(e, args)) > 0); err != nil {
		return nil, err
	}
	if o.censor.capacityQuery != "" || o.censor.pendingQuery != "" {
		return nil, &usageError{text: "--capacity-query and --pending-query go with --prom", hint: "name the server: --prom http://localhost:9090"}
	}
	if dirs := folders(e, args); len(dirs) == len(args) {
		return o.fromProfiles(ctx, e, dirs)
	} else if len(dirs) > 0 {
		return nil, &usageError{text: dirs[0] + " is a folder of GPU samples, and there are files beside it", hint: "forecast them in two calls"}
	}
	if o.censor.limit.measured {
		return nil, &usageError{text: "--past-capacity measured is for a folder that capcli profile wrote", hint: "give a number or a file: --past-capacity 64"}
	}
	var all *demand.Histories
	for _, name := range args {
		hs, err := o.loadFile(ctx, e, name)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = hs
			continue
		}
		if err := join(all, hs); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// join adds the series of another file.
func join(hs, more *demand.Histories) error {
	file := more.Inputs[0]
	if hs.Step != more.Step || hs.Clock != more.Clock || hs.Measure != more.Measure {
		return &capcli.InputError{File: file, Text: fmt.Sprintf("expected steps of %s as in %s, found %s", stepsOf(hs), hs.Inputs[0], stepsOf(more)), Hint: "give both the same --step"}
	}
	have := map[string]bool{}
	for _, h := range hs.List {
		have[h.Name] = true
	}
	for _, h := range more.List {
		if have[h.Name] {
			return &capcli.InputError{File: file, Text: fmt.Sprintf("the series %q is in %s too", h.Name, strings.Join(hs.Inputs, ", ")), Hint: "put the files into one, or give the series names of their own"}
		}
		h.Set = hs
		hs.List = append(hs.List, h)
	}
	hs.Inputs = append(hs.Inputs, file)
	hs.Notes = append(hs.Notes, more.Notes...)
	if hs.Tree != nil || more.Tree != nil {
		hs.Tree = nil
		hs.Notes = append(hs.Notes, "series of several job logs: sums of each log alone, not reconciled")
	}
	if hs.Partial == "" {
		hs.Partial = more.Partial
	}
	return nil
}

func stepsOf(hs *demand.Histories) string {
	if !hs.Clock {
		return "whole numbers"
	}
	return hs.Step.String()
}

// headBytes is how much of a file tells what it is.
const headBytes = 64 << 10

func (o *historyOptions) loadFile(ctx context.Context, e *env, name string) (*demand.Histories, error) {
	in, closer, err := openInput(e, name)
	if err != nil {
		return nil, err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	head := peek(&in)
	return o.loadInput(ctx, e, in, head)
}

// peek gives the begin of in, which can then still be read from the start.
func peek(in *trace.Input) []byte {
	buf := bufio.NewReaderSize(in.R, headBytes)
	in.R = buf
	head, _ := buf.Peek(headBytes) // what is wrong with it shows when it is read
	return head
}

// loadInput reads a file that begins with head.
func (o *historyOptions) loadInput(ctx context.Context, e *env, in trace.Input, head []byte) (*demand.Histories, error) {
	opts := series.Options{Name: in.Name, ID: o.id, Time: o.time, Value: o.value, Zone: o.zone, DSTLater: o.read.dst == "later", More: o.censor.more()}
	if o.whole {
		opts.Usual = []string{"y", "mean"} // of what capcli forecast wrote
	}
	if o.read.format == "" || o.read.format == "auto" {
		named := o.time != "" || o.value != "" || o.id != ""
		if parquet.IsParquet(plainHead(in.Name, head)) {
			table, ok, err := o.parquetTable(&in, parquet.IsParquet(head), opts)
			if err != nil {
				return nil, err
			}
			if ok {
				return o.ofTable(table)
			}
			return o.fromJobs(ctx, e, in)
		}
		if named || series.Sniff(plainHead(in.Name, head), opts) {
			return o.fromTable(in, opts)
		}
	}
	return o.fromJobs(ctx, e, in)
}

// plainHead is head without its packing; nil where it cannot be told.
func plainHead(name string, head []byte) []byte {
	r, err := trace.Unpack(trace.Input{Name: name, R: bytes.NewReader(head)})
	if err != nil {
		return nil
	}
	out := make([]byte, headBytes)
	n, err := io.ReadFull(r, out)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return out[:n]
}
