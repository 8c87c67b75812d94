package main

import (
	"fmt"
	"strings"

	"capcli/cmd/report"
	"capcli/profile"
)

// fitTable says on what smaller GPU, or part of one, each job could run.
func (p *profiled) fitTable() report.Table {
	t := report.Table{Name: "fits", Aside: true, Columns: []report.Column{
		{Name: "job_id", Head: "job", Align: report.Left},
		{Name: "gpu_model", Align: report.Left, Priority: 2},
		{Name: "held_gpu_hours", Head: "held h", Priority: 1},
		{Name: "mem_max_gib", Head: "mem max GiB"},
		{Name: "sm_active_p95", Head: "SM p95"},
		{Name: "dram_active_p95", Head: "DRAM p95", Priority: 1},
		{Name: "fits_on", Align: report.Left},
		{Name: "binding", Align: report.Left},
		{Name: "freed_gpu_hours", Head: "frees h"},
		{Name: "shareable_gpu_milli", Head: "milli", Priority: 1},
		{Name: "note", Align: report.Left, Priority: 1},
	}}
	for i := range p.Jobs {
		j := &p.Jobs[i]
		if j.Kind == "unknown" {
			continue
		}
		f, binds := &j.Fits, ""
		if f.Binds != nil {
			binds = string(*f.Binds)
		}
		var milli any
		if f.Milli != nil {
			milli = *f.Milli
		}
		t.Rows = append(t.Rows, []any{
			j.ID, j.Model, float64(j.Held), gib(&j.UseResult), knownPercent(f.Need.SM), knownPercent(f.Need.DRAM),
			fitsText(f), binds, float64(f.Freed), milli, fitsNote(f),
		})
	}
	return t
}

func fitsText(f *profile.FitResult) any {
	if f.Why != nil {
		return nil
	}
	var on []string
	if f.Slice != nil {
		on = append(on, "MIG "+*f.Slice)
	}
	if f.Model != nil {
		on = append(on, *f.Model)
	}
	if len(on) == 0 {
		return "nothing smaller"
	}
	return strings.Join(on, " or ")
}

func fitsNote(f *profile.FitResult) any {
	switch {
	case f.Why != nil:
		return *f.Why
	case f.Reserved:
		return "memory looks reserved by its allocator: it may need less"
	case f.ByUtil:
		return "SM was not told: the time a kernel ran stands in, which is more"
	}
	return nil
}

// fitsWords says in a sentence what the table of fits adds up to; "" is nothing.
func (p *profiled) fitsWords() string {
	jobs, freed, reserved := int64(0), 0.0, int64(0)
	for i := range p.Jobs {
		f := &p.Jobs[i].Fits
		if p.Jobs[i].Kind == "unknown" {
			continue
		}
		if f.Why == nil && f.Reserved && f.Slice == nil && f.Model == nil {
			reserved++
		}
		if h := float64(f.Freed); h > 0 {
			jobs, freed = jobs+1, freed+h
		}
	}
	if jobs == 0 {
		return ""
	}
	text := fmt.Sprintf("%s %s would fit a MIG slice or a smaller GPU, which frees %.1f GPU-hours (--table fits)", grouped(jobs), plural(jobs, "job"), freed)
	if reserved > 0 {
		text += fmt.Sprintf("; of %s %s more, memory looks reserved by an allocator: what is in use is as much as is needed or more", grouped(reserved), plural(reserved, "job"))
	}
	return text
}
