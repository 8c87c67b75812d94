package inputs

import (
	"context"
	"fmt"

	"capcli"
	"capcli/profile"
	"capcli/profile/store"
)

// readRecordings reads the jobs of all folders that capcli profile wrote, as one: what several of them hold counts
// once.
func (r *reading) readRecordings(ctx context.Context) error {
	all := r.partsOf(Recording)
	if len(all) == 0 {
		return nil
	}
	folders, err := r.openFolders(all)
	if err != nil {
		return err
	}
	at, end := r.progress("hosts")
	whole := store.OpenFolders(folders)
	hosts := int64(0)
	sum, err := whole.Summarise(ctx, store.SummaryRequest{}, func(done, _ int64) {
		hosts = done
		at(done)
	})
	if err != nil {
		return err
	}
	end(hosts)
	p := all[0]
	if len(sum.Devices) == 0 {
		return &capcli.InputError{File: p.File, Text: "expected a folder that capcli profile wrote, found no recording in it", Hint: "record one: capcli profile --out " + capcli.ShellWord(p.File) + "; or name a job log in the folder"}
	}
	r.note(p.File, whole.Notes()...)
	if gaps := capcli.Seconds(sum.Gaps / 1e6); gaps > 0 {
		r.note(p.File, fmt.Sprintf("%s were not sampled: what ran then does not count", gaps))
	}
	p.jobs, _ = sum.Record(false)
	if len(p.jobs) == 0 {
		return &capcli.InputError{File: p.File, Text: "expected jobs that held a GPU, found none", Hint: "only some users may see processes: run profile as root, with --processes 5s"}
	}
	r.set.Lasts = capcli.Seconds(sum.To.Second() - sum.From.Second())
	p.Days = daysOf(r.set.Lasts)
	r.fill(p)
	p.Took += r.useText(sum)
	text, err := jobLines(p.jobs)
	if err != nil {
		return err
	}
	p.SHA256 = sumOf(text)
	for _, o := range all[1:] {
		o.SHA256, o.Days, o.Took = p.SHA256, p.Days, "read as one with "+p.File
	}
	return nil
}

func (r *reading) openFolders(all []*part) ([]store.Folder, error) {
	var out []store.Folder
	for _, p := range all {
		f := store.Folder{Name: p.File, Root: p.File}
		if r.Sources.Folder != nil {
			var err error
			if f, err = r.Sources.Folder(p.File); err != nil {
				return nil, err
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// useText says what of the recorded GPU time was used, and what of it no job had.
func (r *reading) useText(sum *profile.Summary) string {
	var held, used, unnamed float64
	for j := range sum.EachJob() {
		switch {
		case j.Kind == "unknown":
			unnamed += j.Use.HeldHours()
		case r.counts(j.Model):
			held, used = held+j.Use.HeldHours(), used+j.Use.UsedHours()
		}
	}
	text := fmt.Sprintf("; %s GPU-hours held, of which %s at work", hoursText(held), hoursText(used))
	if unnamed > 0 {
		text += fmt.Sprintf("; %s GPU-hours more were held by nobody that the recording can name, and do not count", hoursText(unnamed))
	}
	return text
}
