// Package roofline says how long an iteration of a model takes on GPUs, from coefficients fitted to
// public measurements of its operations, and how much memory it needs.
package roofline
