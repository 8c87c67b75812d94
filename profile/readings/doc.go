// Package readings takes what programs say of themselves: the tokens and samples that they get through in
// a second, their step time, their MFU. They say it on a page of metrics (Prometheus or OpenMetrics), or in
// lines of a file, which it follows as it grows: JSON, logfmt, or Megatron's "name: value | name: value".
//
// A figure goes by its name. A count that grows, such as tokens_total, becomes a rate. It belongs to the job
// or the pod that its labels name, or to the process whose number the file's name has, else to the box.
//
// What several ranks say of one job is theirs alone and adds up: a rank that logs the rate of all ranks must
// be the only one that does.
package readings
