package trace

import (
	"bytes"
	"encoding/json"

	"capcli"
)

func init() {
	Formats.Add("philly", "Microsoft Philly cluster_job_log (Jeon et al., ATC'19), or the table timestamp,duration,num_gpus,gpu_time,cluster",
		Format{Sniff: sniffPhilly, Read: readPhilly})
}

func sniffPhilly(head []byte) bool {
	if json := beginsJSON(head); len(json) > 0 && (json[0] == '[' || json[0] == '{') {
		return bytes.Contains(json, []byte(`"attempts"`)) && bytes.Contains(json, []byte(`"vc"`))
	}
	return headHas(head, phillyTable.needs...)
}

func readPhilly(r *Reader) error {
	if json := beginsJSON(r.text.Head(HeadBytes)); len(json) > 0 && (json[0] == '[' || json[0] == '{') {
		return readPhillyJSON(r)
	}
	return phillyTable.read(r)
}

// phillyJob is one object of the log.
type phillyJob struct {
	Status    string          `json:"status"`
	VC        string          `json:"vc"`
	ID        string          `json:"jobid"`
	Submitted *string         `json:"submitted_time"`
	User      string          `json:"user"`
	Attempts  []phillyAttempt `json:"attempts"`
}

type phillyAttempt struct {
	Start  *string `json:"start_time"`
	End    *string `json:"end_time"`
	Detail []struct {
		GPUs []json.RawMessage `json:"gpus"`
	} `json:"detail"`
}

func readPhillyJSON(r *Reader) error {
	p := &philly{r: r, zone: newZoned(r)}
	return r.eachObject("", "Philly's job log", func(raw []byte, line int) (bool, error) {
		return p.object(raw, line), nil
	}, nil)
}

type philly struct {
	r          *Reader
	zone       *zoned
	vcs, users names
}

func (p *philly) object(raw []byte, line int) bool {
	if !unicodeJSON(raw) {
		return p.r.Reject(line, raw, "text that is not valid UTF-8")
	}
	var in phillyJob
	if err := json.Unmarshal(raw, &in); err != nil {
		return p.r.Reject(line, raw, "not a Philly job in JSON")
	}
	job := capcli.Job{
		ID: in.ID, Tenant: p.users.intern([]byte(in.User)), Partition: p.vcs.intern([]byte(in.VC)),
		State: phillyState(in.Status), Eligible: capcli.NoTime, Deadline: capcli.NoTime,
	}
	var bad flaw
	if job.Submit, bad = p.parseTime(in.Submitted); bad != flawless {
		return p.r.Reject(line, raw, "submitted_time: "+string(bad))
	}
	if reason := p.fold(&job, in.Attempts); reason != "" {
		return p.r.Reject(line, raw, reason)
	}
	return p.r.Keep(line, raw, &job)
}

// fold combines the attempts of a job into one run. The run time is the sum over the
// attempts, as in the published tables. The GPUs are those of the last attempt that lists
// any. fold returns the reason for a rejection, or "".
func (p *philly) fold(job *capcli.Job, attempts []phillyAttempt) (reason string) {
	job.Start, job.End = capcli.NoTime, capcli.NoTime
	ran, open := 0, 0
	for _, a := range attempts {
		start, bad := p.parseTime(a.Start)
		if bad != flawless {
			return "start_time: " + string(bad)
		}
		end, bad := p.parseTime(a.End)
		if bad != flawless {
			return "end_time: " + string(bad)
		}
		gpus := 0
		for _, d := range a.Detail {
			gpus += len(d.GPUs)
		}
		if gpus > 0 {
			job.GPUs = gpus
		}
		if !start.IsKnown() || !end.IsKnown() {
			open++
			continue
		}
		if end < start {
			return "end before start"
		}
		ran++
		job.Run += capcli.Seconds(end - start)
		if !job.Start.IsKnown() || start < job.Start {
			job.Start = start
		}
		job.End = max(job.End, end)
	}
	switch {
	case ran == 0:
		return "never ran: no attempt with a start and an end"
	case job.GPUs == 0:
		return "no attempt names its GPUs"
	}
	job.Run = p.r.lift(job.Run)
	if ran > 1 {
		p.r.Assume("several attempts: their lengths added up")
	}
	if open > 0 {
		p.r.Assume("an attempt without a start or an end: left out")
	}
	return ""
}

// parseTime parses a time of the log; a null or a word for unknown is NoTime.
func (p *philly) parseTime(text *string) (capcli.Time, flaw) {
	if text == nil {
		return capcli.NoTime, flawless
	}
	return p.zone.read(blankIfUnknown([]byte(*text)))
}

// phillyState converts a Philly status to Slurm's state; it keeps a status that it does not
// know.
func phillyState(status string) string {
	switch status {
	case "Pass":
		return "COMPLETED"
	case "Killed":
		return "CANCELLED"
	case "Failed":
		return "FAILED"
	}
	return status
}

// phillyTable is the format of the table that is derived from the log.
var phillyTable = tableFormat{
	needs: []string{"timestamp", "duration", "num_gpus", "cluster"}, lifts: true,
	columns: []column{
		{"timestamp", readSubmitOrUnknown},
		{"duration", readRun},
		{"num_gpus", readGPUs},
		{"cluster", readPartition},
		{"", nameByRow},
	},
}

// nameByRow sets the id of a job to j followed by the number of its row, from 0.
func nameByRow(t *tableReader, job *capcli.Job, _ []byte) flaw {
	job.ID = t.ids.copyString(append([]byte{'j'}, t.ids.number(t.rows-1)...))
	return flawless
}
