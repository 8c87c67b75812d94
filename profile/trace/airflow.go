package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"capcli"
)

func init() {
	Formats.Add("airflow", "Airflow's task instances as JSON of its REST API, after the tasks of their DAGs where dependencies are wanted",
		Format{Sniff: sniffAirflow, Read: readAirflow})
}

func sniffAirflow(head []byte) bool {
	head = beginsJSON(head)
	return len(head) > 0 && (head[0] == '{' || head[0] == '[') &&
		(bytes.Contains(head, []byte(`"task_instances"`)) || bytes.Contains(head, []byte(`"downstream_task_ids"`)))
}

// airflowObject is a reply of the REST API: to dags/ID/tasks, or to …/taskInstances. The first does not say
// which DAG it is of; dag_id can be added to it.
type airflowObject struct {
	DAG       string          `json:"dag_id"`
	Tasks     []airflowTask   `json:"tasks"`
	Instances []airflowRecord `json:"task_instances"`
}

type airflowTask struct {
	ID         string   `json:"task_id"`
	Downstream []string `json:"downstream_task_ids"`
	Rule       string   `json:"trigger_rule"`
}

// airflowRecord is a task instance.
type airflowRecord struct {
	DAG      string          `json:"dag_id"`
	Run      string          `json:"dag_run_id"`
	Task     string          `json:"task_id"`
	Map      *int            `json:"map_index"`
	Start    string          `json:"start_date"`
	End      string          `json:"end_date"`
	Queued   string          `json:"queued_when"`
	State    string          `json:"state"`
	Try      int             `json:"try_number"`
	Pool     string          `json:"pool"`
	Queue    string          `json:"queue"`
	Executor json.RawMessage `json:"executor_config"`
	GPUs     *int            `json:"gpus"` // our own, where the export was extended
}

// airflow reads the replies of one file.
type airflow struct {
	r        *Reader
	upstream map[string]map[string][]string // by DAG and task; "" is a reply that names no DAG
	rules    map[string]string              // by DAG and task, joined by a zero byte
}

func readAirflow(r *Reader) error {
	a := &airflow{r: r, upstream: map[string]map[string][]string{}, rules: map[string]string{}}
	o := &objects{r: r}
	for o.nextObject() {
		if !utf8.Valid(o.raw) {
			if !r.Reject(o.line, o.raw, "text that is not valid UTF-8") {
				return nil
			}
			continue
		}
		var x airflowObject
		if err := json.Unmarshal(o.raw, &x); err != nil {
			if !r.Reject(o.line, o.raw, "no reply of Airflow: "+jsonFlaw(err)) {
				return nil
			}
			continue
		}
		a.learn(&x)
		if !a.instances(o.line, o.raw, x.Instances) {
			return nil
		}
	}
	return o.err
}

// learn notes which task waits for which.
func (a *airflow) learn(x *airflowObject) {
	if len(x.Tasks) == 0 {
		return
	}
	up := a.upstream[x.DAG]
	if up == nil {
		up = map[string][]string{}
		a.upstream[x.DAG] = up
	}
	for _, t := range x.Tasks {
		a.rules[x.DAG+"\x00"+t.ID] = t.Rule
		for _, d := range t.Downstream {
			up[d] = append(up[d], t.ID)
		}
	}
}

// instances yields the jobs of one reply. A run of a DAG begins when its first task was queued or started.
func (a *airflow) instances(line int, raw []byte, list []airflowRecord) bool {
	begins := map[string]capcli.Time{}
	for i := range list {
		x := &list[i]
		for _, text := range []string{x.Queued, x.Start} {
			at := instantOf(text)
			if first, known := begins[x.run()]; at.IsKnown() && (!known || at < first) {
				begins[x.run()] = at
			}
		}
	}
	mapped := map[string][]string{} // ids by run and task
	for i := range list {
		key := list[i].run() + "\x00" + list[i].Task
		mapped[key] = append(mapped[key], list[i].id())
	}
	slices.SortStableFunc(list, func(x, y airflowRecord) int {
		return cmp.Or(cmp.Compare(begins[x.run()], begins[y.run()]), cmp.Compare(x.run(), y.run()))
	})
	for i := range list {
		x := &list[i]
		job, why := x.job(begins[x.run()])
		if why != "" {
			if !a.r.Reject(line, raw, x.id()+": "+why) {
				return false
			}
			continue
		}
		if len(x.Executor) > 0 && x.GPUs == nil && job.GPUs == 0 && !bytes.Contains(x.Executor, []byte("gpu")) {
			a.r.Assume("a task whose executor_config names no nvidia.com/gpu: it takes no GPU")
		}
		a.wait(x, &job, mapped)
		if !a.r.Keep(line, raw, &job) {
			return false
		}
	}
	return true
}

func (x *airflowRecord) run() string { return x.DAG + "/" + x.Run }

func (x *airflowRecord) id() string {
	if x.Map != nil && *x.Map >= 0 {
		return fmt.Sprintf("%s/%s/%d", x.run(), x.Task, *x.Map)
	}
	return x.run() + "/" + x.Task
}

// job returns the job of a task instance, or why it is none.
func (x *airflowRecord) job(begin capcli.Time) (job capcli.Job, why string) {
	start, end := instantOf(x.Start), instantOf(x.End)
	switch {
	case x.Task == "" || x.DAG == "":
		return job, "task_id or dag_id is missing"
	case x.State == "skipped" || x.State == "upstream_failed" || x.State == "removed":
		return job, "never ran: " + x.State
	case !start.IsKnown() || !end.IsKnown():
		return job, "it has not ended"
	case end < start:
		return job, "it ends before it starts"
	case x.Try < 0 || x.Try > 10_000:
		return job, "try_number is " + strconv.Itoa(x.Try)
	}
	gpus, why := x.gpus()
	if why != "" {
		return job, why
	}
	job = capcli.Job{
		ID: x.id(), Tenant: x.DAG, Class: x.Task, GPUs: gpus, Submit: min(begin, start), Start: start, End: end, Run: capcli.Seconds(end - start),
		Eligible: capcli.NoTime, Deadline: capcli.NoTime, State: "COMPLETED",
		Stage: &capcli.Stage{Workflow: x.run(), Of: x.DAG, Name: x.Task, Retries: max(0, x.Try-1), FailTries: max(0, x.Try-1)},
	}
	if x.State == "failed" {
		job.State, job.Stage.Fails = "FAILED", true
	}
	return job, ""
}

// gpuWish finds the number of GPUs in the text of an executor_config, which is Python or JSON.
var gpuWish = regexp.MustCompile(`nvidia\.com/gpu\\?['"]?\s*:\s*\\?['"]?(\d{1,8})`)

func (x *airflowRecord) gpus() (int, string) {
	if x.GPUs != nil {
		if *x.GPUs < 0 || *x.GPUs > maxGPUs {
			return 0, "gpus is no number of GPUs"
		}
		return *x.GPUs, ""
	}
	if m := gpuWish.FindSubmatch(x.Executor); m != nil {
		return wholeGPUs(string(m[1]))
	}
	return 0, ""
}

// wait sets what a task instance waits for, by the trigger rule of its task.
func (a *airflow) wait(x *airflowRecord, job *capcli.Job, mapped map[string][]string) {
	dag := x.DAG
	if _, known := a.upstream[dag]; !known {
		dag = ""
	}
	when := capcli.AfterOK
	switch rule := a.rules[dag+"\x00"+x.Task]; rule {
	case "all_done", "always", "all_done_setup_success":
		when = capcli.AfterAny
	case "all_failed":
		when = capcli.AfterNotOK
	case "one_failed":
		when, job.Stage.One = capcli.AfterNotOK, true
	case "one_success", "none_failed_min_one_success":
		job.Stage.One = rule == "one_success"
	}
	for _, task := range a.upstream[dag][x.Task] {
		ids := mapped[x.run()+"\x00"+task]
		for _, id := range ids[:min(len(ids), mostDependencies)] {
			job.Stage.After = append(job.Stage.After, capcli.After{ID: id, When: when})
		}
	}
	if strings.Contains(a.rules[dag+"\x00"+x.Task], "always") {
		job.Stage.After = nil
	}
}
