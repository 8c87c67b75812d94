package main

import (
	"fmt"
	"strings"

	"capcli/cmd/report"
	"capcli/profile"
)

// fitsJSON is what a job could run on. What is not known is null.
type fitsJSON struct {
	Bytes    figure  `json:"mem_used_bytes_max"`
	SM       figure  `json:"sm_active_pct_p95"`
	ByUtil   bool    `json:"sm_from_util"`
	DRAM     figure  `json:"dram_active_pct_p95"`
	Reserved bool    `json:"mem_looks_reserved"`
	Slice    *string `json:"mig_profile"`
	Model    *string `json:"gpu_model"`
	Binds    *string `json:"binding"`
	Milli    *int    `json:"shareable_gpu_milli"`
	Freed    figure  `json:"freed_gpu_hours"`
	Why      *string `json:"unknown_why"`
}

func fitsOf(j *profile.JobUse) fitsJSON {
	f := j.Fits()
	out := fitsJSON{
		Bytes: figure(f.Need.Bytes), SM: figure(100 * f.Need.SM), ByUtil: f.Need.ByUtil, DRAM: figure(100 * f.Need.DRAM), Reserved: f.Need.Reserved,
		Freed: figure(f.FreedHours(j.Use.HeldHours())),
	}
	if f.Why != "" {
		out.Why = &f.Why
		return out
	}
	if f.Slice != nil {
		out.Slice = &f.Slice.Slice
	}
	if f.Model != nil {
		out.Model = &f.Model.Model
	}
	if binds := string(bindsOf(&f)); binds != "" {
		out.Binds = &binds
	}
	if f.Milli > 0 {
		out.Milli = &f.Milli
	}
	return out
}

// bindsOf is what rules out the next smaller than that on which a job fits.
func bindsOf(f *profile.Fitting) profile.Resource {
	switch {
	case f.Slice != nil:
		return f.Slice.Binds
	case f.Model != nil:
		return f.Model.Binds
	}
	return f.Binds
}

// fits says on what smaller GPU, or part of one, each job could run.
func (p *profiled) fits() report.Table {
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
	for _, j := range p.sum.Jobs {
		if j.Kind == "unknown" {
			continue
		}
		f := j.Fits()
		var milli any
		if f.Milli > 0 {
			milli = f.Milli
		}
		t.Rows = append(t.Rows, []any{
			j.ID, j.Model, j.Use.HeldHours(), orNil(gib(j.Use)), knownPercent(f.Need.SM), knownPercent(f.Need.DRAM),
			fitsText(&f), string(bindsOf(&f)), f.FreedHours(j.Use.HeldHours()), milli, fitsNote(&f),
		})
	}
	return t
}

func fitsText(f *profile.Fitting) any {
	if f.Why != "" {
		return nil
	}
	var on []string
	if f.Slice != nil {
		on = append(on, "MIG "+f.Slice.Slice)
	}
	if f.Model != nil {
		on = append(on, f.Model.Model)
	}
	if len(on) == 0 {
		return "nothing smaller"
	}
	return strings.Join(on, " or ")
}

func fitsNote(f *profile.Fitting) any {
	switch {
	case f.Why != "":
		return f.Why
	case f.Need.Reserved:
		return "memory looks reserved by its allocator: it may need less"
	case f.Need.ByUtil:
		return "SM was not told: the time a kernel ran stands in, which is more"
	}
	return nil
}

// fitsWords says in a sentence what the table of fits adds up to; "" is nothing.
func (p *profiled) fitsWords() string {
	jobs, freed, reserved := int64(0), 0.0, int64(0)
	for _, j := range p.sum.Jobs {
		if j.Kind == "unknown" {
			continue
		}
		f := j.Fits()
		if f.Why == "" && f.Need.Reserved && f.Slice == nil && f.Model == nil {
			reserved++
		}
		if h := f.FreedHours(j.Use.HeldHours()); h > 0 {
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
