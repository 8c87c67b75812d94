package joblog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"capcli"
)

// scalar is the text of a JSON string, number or boolean. YAML may have written a label or a quantity as
// any of these.
type scalar string

// UnmarshalJSON implements json.Unmarshaler.
func (s *scalar) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(s))
	}
	if len(b) > 0 && (b[0] == '{' || b[0] == '[') {
		return errors.New("want a text or a number")
	}
	if *s = scalar(b); *s == "null" {
		*s = ""
	}
	return nil
}

// resources are amounts by the name of the resource, as they are written.
type resources map[string]scalar

// meta is the metadata of an object.
type meta struct {
	Name            string            `json:"name"`
	Namespace       string            `json:"namespace"`
	UID             string            `json:"uid"`
	ResourceVersion scalar            `json:"resourceVersion"`
	Created         string            `json:"creationTimestamp"`
	Labels          map[string]scalar `json:"labels"`
	Annotations     map[string]scalar `json:"annotations"`
	Owners          []reference       `json:"ownerReferences"`
}

// reference names another object.
type reference struct {
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Controller bool   `json:"controller"`
}

// controller returns the reference to the object that controls m's, or nil.
func (m *meta) controller() *reference {
	for i := range m.Owners {
		if m.Owners[i].Controller {
			return &m.Owners[i]
		}
	}
	return nil
}

// key identifies the object over all its versions.
func (m *meta) key(kind string) string {
	if m.UID != "" {
		return m.UID
	}
	return kind + " " + m.id()
}

func (m *meta) id() string { return m.Namespace + "/" + m.Name }

// envelope is what every object has, and what tells objects without a kind apart.
type envelope struct {
	Kind     string          `json:"kind"`
	Type     string          `json:"type"`   // of a watch event
	Object   json.RawMessage `json:"object"` // of a watch event
	Metadata meta            `json:"metadata"`
	Involved *reference      `json:"involvedObject"`
	Regard   *reference      `json:"regarding"`
}

// condition is a condition of a Workload or a Job.
type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Changed string `json:"lastTransitionTime"`
}

type conditions []condition

// find returns the condition of a type if it has a status, else nil.
func (c conditions) find(kind, status string) *condition {
	for i := range c {
		if c[i].Type == kind && c[i].Status == status {
			return &c[i]
		}
	}
	return nil
}

type podTemplate struct {
	Metadata struct {
		Labels map[string]scalar `json:"labels"`
	} `json:"metadata"`
	Spec podSpec `json:"spec"`
}

// podSpec is what a pod asks for.
type podSpec struct {
	Containers     []container       `json:"containers"`
	InitContainers []container       `json:"initContainers"`
	NodeSelector   map[string]scalar `json:"nodeSelector"`
	Overhead       resources         `json:"overhead"`
	Resources      struct {
		Requests resources `json:"requests"`
		Limits   resources `json:"limits"`
	} `json:"resources"`
}

type container struct {
	RestartPolicy string `json:"restartPolicy"`
	Resources     struct {
		Requests resources `json:"requests"`
		Limits   resources `json:"limits"`
	} `json:"resources"`
}

// workload is a Workload of Kueue, in the spellings of v1beta1 and v1beta2.
type workload struct {
	Metadata meta `json:"metadata"`
	Spec     struct {
		PodSets []struct {
			Name     string      `json:"name"`
			Count    *int64      `json:"count"`
			Template podTemplate `json:"template"`
		} `json:"podSets"`
		QueueName         string     `json:"queueName"`
		Priority          int64      `json:"priority"`
		PriorityClassRef  *reference `json:"priorityClassRef"`
		PriorityClassName string     `json:"priorityClassName"`
		Active            *bool      `json:"active"`
		MaxSeconds        int64      `json:"maximumExecutionTimeSeconds"`
	} `json:"spec"`
	Status struct {
		Conditions conditions `json:"conditions"`
		Admission  *struct {
			ClusterQueue string `json:"clusterQueue"`
			Assignments  []struct {
				Flavors map[string]string `json:"flavors"`
				Usage   resources         `json:"resourceUsage"`
				Count   *int64            `json:"count"`
			} `json:"podSetAssignments"`
		} `json:"admission"`
		Past      *int64 `json:"accumulatedPastExecutionTimeSeconds"`
		PastBeta1 *int64 `json:"accumulatedPastExexcutionTimeSeconds"` // as v1beta1 spells it
		Stats     *struct {
			Evictions []struct {
				Reason string `json:"reason"`
				Count  int64  `json:"count"`
			} `json:"evictions"`
		} `json:"schedulingStats"`
	} `json:"status"`
	line int
}

// batchJob is a Job of Kubernetes, or another owner of a Workload, of which only the metadata is read.
type batchJob struct {
	Metadata meta `json:"metadata"`
	Spec     struct {
		Parallelism *int64      `json:"parallelism"`
		Completions *int64      `json:"completions"`
		Suspend     bool        `json:"suspend"`
		Deadline    int64       `json:"activeDeadlineSeconds"`
		Template    podTemplate `json:"template"`
	} `json:"spec"`
	Status struct {
		Conditions conditions `json:"conditions"`
		Start      string     `json:"startTime"`
		Completion string     `json:"completionTime"`
	} `json:"status"`
	kind string
	line int
}

type pod struct {
	Metadata meta    `json:"metadata"`
	Spec     podSpec `json:"spec"`
	Status   struct {
		Containers []struct {
			State struct {
				Running    *started `json:"running"`
				Terminated *started `json:"terminated"`
			} `json:"state"`
		} `json:"containerStatuses"`
	} `json:"status"`
}

type started struct {
	At    string `json:"startedAt"`
	Ended string `json:"finishedAt"`
}

// event is an Event, in the spellings of v1 and of events.k8s.io/v1.
type event struct {
	Metadata   meta       `json:"metadata"`
	Involved   *reference `json:"involvedObject"`
	Regarding  *reference `json:"regarding"`
	Reason     string     `json:"reason"`
	Message    string     `json:"message"`
	Note       string     `json:"note"`
	At         string     `json:"eventTime"`
	First      string     `json:"firstTimestamp"`
	Last       string     `json:"lastTimestamp"`
	OtherFirst string     `json:"deprecatedFirstTimestamp"`
	OtherLast  string     `json:"deprecatedLastTimestamp"`
	Series     *struct {
		Last string `json:"lastObservedTime"`
	} `json:"series"`
}

// subject returns the object that the event is about, and the text of the event.
func (e *event) subject() (reference, string) {
	var ref reference
	switch {
	case e.Involved != nil:
		ref = *e.Involved
	case e.Regarding != nil:
		ref = *e.Regarding
	}
	ref.Namespace = cmp.Or(ref.Namespace, e.Metadata.Namespace)
	if e.Message == "" {
		return ref, e.Note
	}
	return ref, e.Message
}

// times returns the first and the last time of the event. They are equal unless the event was repeated.
func (e *event) times() (first, last capcli.Time, err error) {
	for _, text := range []string{e.At, e.First, e.OtherFirst, e.Last, e.OtherLast, e.Metadata.Created} {
		if text != "" {
			if first, err = parseTime(text); err != nil {
				return 0, 0, err
			}
			break
		}
	}
	last = first
	ends := []string{e.Last, e.OtherLast}
	if e.Series != nil {
		ends = append(ends, e.Series.Last)
	}
	for _, text := range ends {
		if text == "" {
			continue
		}
		at, err := parseTime(text)
		if err != nil {
			return 0, 0, err
		}
		last = max(last, at)
	}
	return first, last, nil
}

// parseTime reads a time of the API, which is RFC 3339, rounded down to the second; "" is NoTime.
func parseTime(text string) (capcli.Time, error) {
	if text == "" {
		return capcli.NoTime, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < 1970 || at.Year() > 2200 {
		return capcli.NoTime, fmt.Errorf("want a time such as 2026-03-03T07:58:01Z, found %s", capcli.Quoted(text))
	}
	return capcli.TimeOf(at), nil
}

// version returns the resource version as a number; 0 where it is none.
func (m *meta) version() uint64 {
	n, _ := strconv.ParseUint(string(m.ResourceVersion), 10, 64)
	return n
}

// kindOf returns the kind of the object in raw, by its shape where it names none. Typed lists leave the
// kind of their items out, and exporters that of events.
func kindOf(e *envelope, raw []byte) string {
	switch {
	case e.Kind != "":
		return e.Kind
	case e.Involved != nil || e.Regard != nil:
		return "Event"
	}
	var shape struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if json.Unmarshal(raw, &shape) != nil {
		return ""
	}
	for _, k := range []struct{ field, kind string }{{"podSets", "Workload"}, {"containers", "Pod"}, {"backoffLimit", "Job"}} {
		if _, ok := shape.Spec[k.field]; ok {
			return k.kind
		}
	}
	return ""
}
