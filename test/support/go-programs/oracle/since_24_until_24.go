package main

import (
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/klog/v2"
)

var addLoggingGates = logs.AddFeatureGates

var logger any = klog.Background()
