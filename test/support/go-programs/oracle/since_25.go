package main

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/apis/config"
)

var addLoggingGates = logsapi.AddFeatureGates

func logging(kubelet *config.KubeletConfiguration, features featuregate.FeatureGate) field.ErrorList {
	return logsapi.Validate(&kubelet.Logging, features, field.NewPath("logging"))
}

var logger any = klog.Background()
